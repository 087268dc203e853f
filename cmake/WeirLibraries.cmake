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

# Debian's libpg-query ships no pkg-config file.
find_library(PG_QUERY_LIBRARY pg_query REQUIRED)
find_path(PG_QUERY_INCLUDE pg_query.h REQUIRED)
add_library(weir_pg_query INTERFACE IMPORTED GLOBAL)
target_include_directories(weir_pg_query SYSTEM INTERFACE ${PG_QUERY_INCLUDE})
target_link_libraries(weir_pg_query INTERFACE ${PG_QUERY_LIBRARY})
add_library(weir::pg_query ALIAS weir_pg_query)

# Only the tests link it.
weir_pkg(cmocka cmocka)
