# SPDX-License-Identifier: Apache-2.0
# weir_folder(<name> PUBLIC_LIBRARIES … PRIVATE_LIBRARIES …): the static library weir_<name> of all
# sources below <name>/ (a folder main/ below it holds entry points and is left out).
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX and GNU calls: eventfd, pthread_setname_np, O_TMPFILE
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(WEIR_WERROR "Treat warnings as errors" OFF)
set(WEIR_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, e.g. address,undefined")

add_library(weir_warnings INTERFACE)
target_compile_options(weir_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
        -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 -Wswitch-enum>
    # WEIR_ASSERT(!"why this cannot be") is meant.
    $<$<COMPILE_LANG_AND_ID:C,Clang>:-Wno-string-conversion>
    $<$<BOOL:${WEIR_WERROR}>:-Werror>)
target_compile_definitions(weir_warnings INTERFACE _GNU_SOURCE)
if(WEIR_SANITIZE)
    add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer
                        $<$<COMPILE_LANGUAGE:C>:-fno-sanitize-recover=all>)
    add_link_options(-fsanitize=${WEIR_SANITIZE})
endif()

function(weir_folder name)
    cmake_parse_arguments(ARG "" "" "PUBLIC_LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.c)
    list(FILTER sources EXCLUDE REGEX "/${name}/main/")
    if(NOT sources)
        return()
    endif()
    add_library(weir_${name} STATIC ${sources})
    target_include_directories(weir_${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(weir_${name} PUBLIC ${ARG_PUBLIC_LIBRARIES}
                          PRIVATE ${ARG_PRIVATE_LIBRARIES} weir_warnings m)
endfunction()
