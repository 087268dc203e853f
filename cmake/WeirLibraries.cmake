# SPDX-License-Identifier: Apache-2.0
# The outside libraries, each as weir::<name> with SYSTEM headers. Which folder may link which one
# is said in the root CMakeLists.txt and nowhere else.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
add_library(weir::threads ALIAS Threads::Threads)

function(weir_pkg name module)
    pkg_check_modules(PKG_${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})
    add_library(weir::${name} ALIAS PkgConfig::PKG_${name})
endfunction()

weir_pkg(rdkafka rdkafka)
weir_pkg(yyjson yyjson)
weir_pkg(xxhash libxxhash)
weir_pkg(zlib zlib)
weir_pkg(utf8proc libutf8proc)
weir_pkg(gmp gmp)
weir_pkg(microhttpd libmicrohttpd)
weir_pkg(avro avro-c)
weir_pkg(curl libcurl)

# Debian's libpg-query ships no pkg-config file.
find_library(PG_QUERY_LIBRARY pg_query REQUIRED)
find_path(PG_QUERY_INCLUDE pg_query.h REQUIRED)
add_library(weir_pg_query INTERFACE IMPORTED GLOBAL)
target_include_directories(weir_pg_query SYSTEM INTERFACE ${PG_QUERY_INCLUDE})
target_link_libraries(weir_pg_query INTERFACE ${PG_QUERY_LIBRARY})
add_library(weir::pg_query ALIAS weir_pg_query)

# RocksDB statically where there is an archive: its counters are thread-local variables, which cost a
# call each in the shared library, a fifth to a half of the time of a read from the memtable.
option(WEIR_ROCKSDB_STATIC "Link RocksDB statically where its archive and what it needs are there" ON)
set(WEIR_ROCKSDB_ARCHIVES)
if(WEIR_ROCKSDB_STATIC)
    foreach(archive rocksdb snappy lz4 zstd bz2 z)
        find_library(WEIR_ARCHIVE_${archive} lib${archive}.a)
        list(APPEND WEIR_ROCKSDB_ARCHIVES ${WEIR_ARCHIVE_${archive}})
    endforeach()
endif()
if(WEIR_ROCKSDB_ARCHIVES AND NOT WEIR_ROCKSDB_ARCHIVES MATCHES "NOTFOUND")
    list(POP_FRONT WEIR_ROCKSDB_ARCHIVES WEIR_ROCKSDB_ARCHIVE)
    find_path(ROCKSDB_INCLUDE rocksdb/c.h REQUIRED)
    add_library(weir_rocksdb STATIC IMPORTED GLOBAL)
    set_target_properties(weir_rocksdb PROPERTIES IMPORTED_LOCATION ${WEIR_ROCKSDB_ARCHIVE}
                          IMPORTED_LINK_INTERFACE_LANGUAGES CXX)
    target_include_directories(weir_rocksdb SYSTEM INTERFACE ${ROCKSDB_INCLUDE})
    target_link_libraries(weir_rocksdb INTERFACE ${WEIR_ROCKSDB_ARCHIVES} Threads::Threads
                          ${CMAKE_DL_LIBS})
    add_library(weir::rocksdb ALIAS weir_rocksdb)
    message(STATUS "RocksDB: ${WEIR_ROCKSDB_ARCHIVE}")
else()
    weir_pkg(rocksdb rocksdb)
endif()

# Only the tests link them: jansson is another reader of JSON than the program's.
if(NOT DEFINED BUILD_TESTING OR BUILD_TESTING)
    weir_pkg(cmocka cmocka)
    weir_pkg(jansson jansson)
endif()
