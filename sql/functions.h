// SPDX-License-Identifier: Apache-2.0
// Functions that are more than a value of one row: refused by name until their operators exist, and
// never looked up among the ordinary ones.
#ifndef WEIR_SQL_FUNCTIONS_H
#define WEIR_SQL_FUNCTIONS_H

enum weir_function_class {
    WEIR_FUNCTION_PLAIN, // whether it exists is for weir_expr_call to say
    WEIR_FUNCTION_AGGREGATE,
    WEIR_FUNCTION_SET_RETURNING,
    WEIR_FUNCTION_WINDOW,      // row_number() and others that need OVER
    WEIR_FUNCTION_TIME_WINDOW, // tumble() and others in FROM
};

enum weir_function_class weir_sql_function_class(const char *name);

#endif
