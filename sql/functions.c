// SPDX-License-Identifier: Apache-2.0
// PostgreSQL's aggregates, window and set-returning functions by name (functions.h).
#include "sql/functions.h"

#include <stdint.h>
#include <string.h>

static const char *const aggregates[] = {"array_agg",
                                         "avg",
                                         "bit_and",
                                         "bit_or",
                                         "bit_xor",
                                         "bool_and",
                                         "bool_or",
                                         "corr",
                                         "count",
                                         "covar_pop",
                                         "covar_samp",
                                         "every",
                                         "json_agg",
                                         "json_object_agg",
                                         "jsonb_agg",
                                         "jsonb_object_agg",
                                         "max",
                                         "min",
                                         "mode",
                                         "percentile_cont",
                                         "percentile_disc",
                                         "range_agg",
                                         "regr_avgx",
                                         "regr_avgy",
                                         "regr_count",
                                         "regr_intercept",
                                         "regr_r2",
                                         "regr_slope",
                                         "regr_sxx",
                                         "regr_sxy",
                                         "regr_syy",
                                         "stddev",
                                         "stddev_pop",
                                         "stddev_samp",
                                         "string_agg",
                                         "sum",
                                         "var_pop",
                                         "var_samp",
                                         "variance",
                                         "xmlagg",
                                         NULL};

static const char *const set_returning[] = {"generate_series",
                                            "generate_subscripts",
                                            "json_array_elements",
                                            "json_array_elements_text",
                                            "json_each",
                                            "json_each_text",
                                            "json_object_keys",
                                            "json_populate_recordset",
                                            "json_to_recordset",
                                            "jsonb_array_elements",
                                            "jsonb_array_elements_text",
                                            "jsonb_each",
                                            "jsonb_each_text",
                                            "jsonb_object_keys",
                                            "jsonb_path_query",
                                            "jsonb_populate_recordset",
                                            "jsonb_to_recordset",
                                            "regexp_matches",
                                            "regexp_split_to_table",
                                            "string_to_table",
                                            "unnest",
                                            NULL};

static const char *const window_functions[] = {"cume_dist",    "dense_rank", "first_value", "lag",
                                               "last_value",   "lead",       "nth_value",   "ntile",
                                               "percent_rank", "rank",       "row_number",  NULL};

static const char *const time_windows[] = {"cumulate", "hop", "session", "tumble", NULL};

static int is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0) {
            return 1;
        }
    }
    return 0;
}

enum weir_function_class weir_sql_function_class(const char *name)
{
    if (is_one_of(name, aggregates)) {
        return WEIR_FUNCTION_AGGREGATE;
    }
    if (is_one_of(name, set_returning)) {
        return WEIR_FUNCTION_SET_RETURNING;
    }
    if (is_one_of(name, window_functions)) {
        return WEIR_FUNCTION_WINDOW;
    }
    return is_one_of(name, time_windows) ? WEIR_FUNCTION_TIME_WINDOW : WEIR_FUNCTION_PLAIN;
}
