# SPDX-License-Identifier: Apache-2.0
# weir_embed(<target> <file> <symbol> <header>): the bytes of a file as the array <symbol> of the
# program, <symbol>_bytes of them; <header> declares both. As a script (cmake -P) it writes the C.
if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${INPUT} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nconst unsigned char ${SYMBOL}[] = {\n${bytes}\n};\n"
                         "const size_t ${SYMBOL}_bytes = sizeof ${SYMBOL};\n")
    return()
endif()
set(WEIR_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(weir_embed target file symbol header)
    set(output ${CMAKE_BINARY_DIR}/embedded/${symbol}.c)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D INPUT=${CMAKE_SOURCE_DIR}/${file} -D OUTPUT=${output}
                -D SYMBOL=${symbol} -D HEADER=${header} -P ${WEIR_EMBED_SCRIPT}
        DEPENDS ${CMAKE_SOURCE_DIR}/${file} ${WEIR_EMBED_SCRIPT} VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
