// SPDX-License-Identifier: Apache-2.0
// The functions and operators that expressions can call: one table a kernel file, all of them
// listed in function.c, and PostgreSQL's choice among overloads (resolve.c). Private to operators/.
// Tables are constant; a row is one overload. Thread: any.
#ifndef WEIR_OPERATORS_FUNCTION_H
#define WEIR_OPERATORS_FUNCTION_H

#include "operators/expr.h"
#include "operators/kernel.h"

// What an argument is declared as: a type that we have (same number as enum weir_type_kind), a
// pseudo-type, or a type of PostgreSQL that we do not have yet. The latter stand in the tables so
// that an untyped literal is as ambiguous here as it is there, and can be refused by name.
enum weir_arg {
    WEIR_ARG_UNKNOWN = 0, // an untyped literal
    WEIR_ARG_BOOLEAN = WEIR_TYPE_BOOLEAN,
    WEIR_ARG_SMALLINT = WEIR_TYPE_SMALLINT,
    WEIR_ARG_INTEGER = WEIR_TYPE_INTEGER,
    WEIR_ARG_BIGINT = WEIR_TYPE_BIGINT,
    WEIR_ARG_REAL = WEIR_TYPE_REAL,
    WEIR_ARG_DOUBLE = WEIR_TYPE_DOUBLE,
    WEIR_ARG_NUMERIC = WEIR_TYPE_NUMERIC,
    WEIR_ARG_TEXT = WEIR_TYPE_TEXT,
    WEIR_ARG_VARCHAR = WEIR_TYPE_VARCHAR,
    WEIR_ARG_BYTEA = WEIR_TYPE_BYTEA,
    WEIR_ARG_DATE = WEIR_TYPE_DATE,
    WEIR_ARG_TIMESTAMP = WEIR_TYPE_TIMESTAMP,
    WEIR_ARG_TIMESTAMPTZ = WEIR_TYPE_TIMESTAMPTZ,
    WEIR_ARG_JSONB = WEIR_TYPE_JSONB,
    WEIR_ARG_COMPOSITE = WEIR_TYPE_COMPOSITE,
    WEIR_ARG_CHAR = WEIR_TYPE_CHAR,
    WEIR_ARG_TIME = WEIR_TYPE_TIME,
    WEIR_ARG_INTERVAL = WEIR_TYPE_INTERVAL,
    WEIR_ARG_UUID = WEIR_TYPE_UUID,
    WEIR_ARG_JSON = WEIR_TYPE_JSON,
    WEIR_ARG_ARRAY = WEIR_TYPE_ARRAY, // any; of one element type where there are several
    WEIR_ARG_ANY = 64,                // taken in the text form of its output function (concat)
    WEIR_ARG_ANYELEMENT,              // an element of the array that is another argument
    WEIR_ARG_ANYNONARRAY,             // taken as CAST(… AS text) (the other side of ||)
    WEIR_ARG_TIMETZ,                  // not here yet, from here on
    WEIR_ARG_TEXT_ARRAY,
    WEIR_ARG_RANGE,
    WEIR_ARG_MONEY,
    WEIR_ARG_INET,
    WEIR_ARG_MACADDR,
    WEIR_ARG_BIT,
    WEIR_ARG_GEOMETRY, // point, box, …: one name stands for all
};

enum weir_function_flag {
    // Cheap, and never fails, whatever the bits of its arguments are: it may be computed for rows
    // whose result is not asked for. Never set on what follows pointers.
    WEIR_FUNCTION_TOTAL = 1 << 0,
    // Called with NULLs, says itself what comes out; all others give NULL if an argument is NULL.
    WEIR_FUNCTION_TAKES_NULL = 1 << 1,
    WEIR_FUNCTION_NEEDS_NOW = 1 << 2,
    WEIR_FUNCTION_NEEDS_RECORD = 1 << 3,
    WEIR_FUNCTION_VARIADIC = 1 << 4, // the last declared argument may be repeated
    WEIR_FUNCTION_CAST = 1 << 5,     // printed as x::type
};

enum { WEIR_FUNCTION_ARGS_MAX = 4 };

struct weir_function {
    const char *name;
    uint8_t arg_count;
    uint8_t args[WEIR_FUNCTION_ARGS_MAX]; // enum weir_arg
    uint8_t result;                       // enum weir_arg
    // When not 0: all arguments are cast to this type before the kernel sees them (smallint +
    // bigint is computed in bigint).
    uint8_t computed_in;
    uint8_t flags;
    weir_kernel_fn kernel; // NULL: PostgreSQL has it, weir does not yet
    // Refuses constant arguments that no row could use (a unit that date_trunc does not know), so
    // that they are found at plan time. args are bound; NULL: nothing to check.
    bool (*check)(const struct weir_function *function, struct weir_expr *const *args,
                  struct weir_value_error *error);
};

// A line of a table of functions; behind the flags come the types of the arguments.
#define WEIR_FUNCTION_ROW(the_name, the_result, the_kernel, the_check, the_flags, ...)             \
    {                                                                                              \
        .name = the_name, .arg_count = sizeof((uint8_t[]){__VA_ARGS__}), .args = {__VA_ARGS__},    \
        .result = the_result, .flags = the_flags, .kernel = the_kernel, .check = the_check         \
    }

struct weir_function_table {
    const struct weir_function *functions;
    uint32_t count;
};

extern const struct weir_function_table weir_functions_integer;
extern const struct weir_function_table weir_functions_float;
extern const struct weir_function_table weir_functions_numeric;
extern const struct weir_function_table weir_functions_compare;
extern const struct weir_function_table weir_functions_text;
extern const struct weir_function_table weir_functions_text_form;
extern const struct weir_function_table weir_functions_like;
extern const struct weir_function_table weir_functions_time;
extern const struct weir_function_table weir_functions_interval;
extern const struct weir_function_table weir_functions_array;
extern const struct weir_function_table weir_functions_json;
extern const struct weir_function_table weir_functions_record;

// In function.c.
// All overloads one after another; visit returns false to end.
void weir_function_each(bool (*visit)(const struct weir_function *function, void *context),
                        void *context);
bool weir_function_is_operator(const char *name);
const char *weir_arg_name(enum weir_arg arg);
// "substr(text, integer)", "integer + bigint".
void weir_function_signature(const struct weir_function *function, struct weir_buffer *out);

// In resolve.c: the overload that PostgreSQL would choose. "function … does not exist",
// "operator is not unique: …", or that we do not have it yet.
enum weir_status weir_function_resolve(const char *name, uint32_t arg_count,
                                       struct weir_expr *const *args,
                                       const struct weir_function **function,
                                       struct weir_error *error);
enum weir_arg weir_arg_of(const struct weir_expr *expr);

// --- casts -----------------------------------------------------------------------------------

// One kind into another: function.args[0] and function.result say which; without a kernel the bits
// stay as they are.
struct weir_cast {
    enum weir_cast_context context; // the narrowest that allows it
    struct weir_function function;
};

// A line of a table of casts.
#define WEIR_CAST_ROW(from, to, the_context, the_kernel, the_flags)                                \
    {                                                                                              \
        .context = the_context, .function = {                                                      \
            .name = "cast",                                                                        \
            .arg_count = 1,                                                                        \
            .args = {from},                                                                        \
            .result = to,                                                                          \
            .flags = WEIR_FUNCTION_CAST | (the_flags),                                             \
            .kernel = the_kernel                                                                   \
        }                                                                                          \
    }

struct weir_cast_table {
    const struct weir_cast *casts;
    uint32_t count;
};

extern const struct weir_cast_table weir_casts_number;
extern const struct weir_cast_table weir_casts_time;
extern const struct weir_cast_table weir_casts_interval;
extern const struct weir_cast_table weir_casts_json;
extern const struct weir_cast_table weir_casts_text; // from and to text, by input and output

// By modifier, same kind before and after.
extern const struct weir_function weir_numeric_modifier_function;   // rounds, checks
extern const struct weir_function weir_varchar_assignment_function; // refuses what is too long
extern const struct weir_function weir_varchar_explicit_function;   // cuts
extern const struct weir_function weir_char_assignment_function;    // the same, and pads
extern const struct weir_function weir_char_explicit_function;
// The output function of any type as text (boolean: t, f).
extern const struct weir_function weir_text_output_function;

// Arrays, in kernel_array.c: what has a grammar of its own.
extern const struct weir_function weir_array_subscript_function;
extern const struct weir_function weir_array_make_function;
extern const struct weir_function weir_array_stack_function; // of arrays
extern const struct weir_function weir_array_recast_function;
extern const struct weir_function weir_array_quantified_functions[]; // "= any", "= all", …
extern const uint32_t weir_array_quantified_count;

// In cast.c. NULL: there is none in that context. from == to is not looked at.
const struct weir_cast *weir_cast_find(enum weir_arg from, enum weir_arg to,
                                       enum weir_cast_context context);
// Implicitly: as an argument of a function declared so.
bool weir_arg_is_coercible(enum weir_arg from, enum weir_arg to);
char weir_arg_category(enum weir_arg arg); // pg_type.typcategory
bool weir_arg_is_preferred(enum weir_arg arg);

#endif
