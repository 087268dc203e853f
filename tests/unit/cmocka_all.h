// SPDX-License-Identifier: Apache-2.0
// cmocka.h wants these before it.
#ifndef WEIR_TESTS_UNIT_CMOCKA_ALL_H
#define WEIR_TESTS_UNIT_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
