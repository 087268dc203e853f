// SPDX-License-Identifier: Apache-2.0
// Which overload a call means: PostgreSQL's rules of sections 10.2 and 10.3 of its manual, in its
// order. Untyped literals take part as "unknown". Thread: any; called while a job is planned.
#include "operators/node.h"

enum { CANDIDATES_MAX = 64, ARGS_MAX = 100 };

struct candidates {
    const char *name;
    uint32_t arg_count;
    enum weir_arg args[ARGS_MAX];
    uint32_t count;
    const struct weir_function *functions[CANDIDATES_MAX];
    bool is_name_known;
};

enum weir_arg weir_arg_of(const struct weir_expr *expr)
{
    return expr->is_unknown ? WEIR_ARG_UNKNOWN : (enum weir_arg)expr->type.kind;
}

static enum weir_arg declared(const struct weir_function *function, uint32_t i)
{
    return function->args[i < function->arg_count ? i : function->arg_count - 1u];
}

static bool takes_count(const struct weir_function *function, uint32_t arg_count)
{
    if ((function->flags & WEIR_FUNCTION_VARIADIC) != 0) {
        return arg_count >= function->arg_count;
    }
    return arg_count == function->arg_count;
}

static bool collect(const struct weir_function *function, void *context)
{
    struct candidates *all = context;
    if (strcmp(function->name, all->name) != 0) {
        return true;
    }
    all->is_name_known = true;
    if (takes_count(function, all->arg_count)) {
        WEIR_ASSERT(all->count < CANDIDATES_MAX);
        all->functions[all->count++] = function;
    }
    return true;
}

static const struct weir_function *find_exact(const struct candidates *all,
                                              const enum weir_arg *args)
{
    for (uint32_t i = 0; i < all->count; i++) {
        bool is_exact = true;
        for (uint32_t k = 0; k < all->arg_count; k++) {
            is_exact = is_exact && declared(all->functions[i], k) == args[k];
        }
        if (is_exact) {
            return all->functions[i];
        }
    }
    return NULL;
}

// An operator with one untyped side: as if that side had the type of the other.
static const struct weir_function *find_exact_binary(const struct candidates *all)
{
    enum weir_arg args[2] = {all->args[0], all->args[1]};
    if (args[0] == WEIR_ARG_UNKNOWN && args[1] != WEIR_ARG_UNKNOWN) {
        args[0] = args[1];
    } else if (args[1] == WEIR_ARG_UNKNOWN && args[0] != WEIR_ARG_UNKNOWN) {
        args[1] = args[0];
    } else {
        return NULL;
    }
    return find_exact(all, args);
}

static void keep_coercible(struct candidates *all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        bool is_kept = true;
        for (uint32_t k = 0; k < all->arg_count; k++) {
            is_kept =
                is_kept && weir_arg_is_coercible(all->args[k], declared(all->functions[i], k));
        }
        if (is_kept) {
            all->functions[count++] = all->functions[i];
        }
    }
    all->count = count;
}

static uint32_t count_matches(const struct candidates *all, const struct weir_function *function,
                              bool with_preferred)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < all->arg_count; k++) {
        enum weir_arg given = all->args[k];
        enum weir_arg wanted = declared(function, k);
        if (given == WEIR_ARG_UNKNOWN) {
            continue;
        }
        count += given == wanted || (with_preferred && weir_arg_is_preferred(wanted) &&
                                     weir_arg_category(wanted) == weir_arg_category(given));
    }
    return count;
}

// Keeps the candidates with the most arguments that match exactly (or, with_preferred, to which the
// preferred type of the argument's category belongs).
static void keep_best(struct candidates *all, bool with_preferred)
{
    uint32_t best = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t matches = count_matches(all, all->functions[i], with_preferred);
        if (matches > best) {
            best = matches;
            count = 0;
        }
        if (matches == best) {
            all->functions[count++] = all->functions[i];
        }
    }
    all->count = count;
}

// Guesses a category for each untyped argument: text if any candidate takes text there, else the
// one that all candidates agree on; then keeps what fits, preferred types first.
static void keep_guessed(struct candidates *all)
{
    char categories[ARGS_MAX] = {0};
    bool has_preferred[ARGS_MAX] = {false};
    for (uint32_t k = 0; k < all->arg_count; k++) {
        if (all->args[k] != WEIR_ARG_UNKNOWN) {
            continue;
        }
        bool is_conflict = false;
        for (uint32_t i = 0; i < all->count; i++) {
            enum weir_arg wanted = declared(all->functions[i], k);
            char category = weir_arg_category(wanted);
            if (categories[k] == 0) {
                categories[k] = category;
                has_preferred[k] = weir_arg_is_preferred(wanted);
            } else if (category == categories[k]) {
                has_preferred[k] = has_preferred[k] || weir_arg_is_preferred(wanted);
            } else if (category == 'S') {
                categories[k] = category;
                has_preferred[k] = weir_arg_is_preferred(wanted);
            } else if (categories[k] != 'S') {
                is_conflict = true;
            }
        }
        if (is_conflict && categories[k] != 'S') {
            return;
        }
    }
    const struct weir_function *kept[CANDIDATES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        bool is_kept = true;
        for (uint32_t k = 0; k < all->arg_count; k++) {
            enum weir_arg wanted = declared(all->functions[i], k);
            if (all->args[k] == WEIR_ARG_UNKNOWN) {
                is_kept = is_kept && weir_arg_category(wanted) == categories[k] &&
                          (!has_preferred[k] || weir_arg_is_preferred(wanted));
            }
        }
        if (is_kept) {
            kept[count++] = all->functions[i];
        }
    }
    if (count > 0) {
        memcpy(all->functions, kept, count * sizeof kept[0]);
        all->count = count;
    }
}

// All typed arguments alike: the untyped ones are taken to be of that type too.
static const struct weir_function *find_by_known(const struct candidates *all)
{
    enum weir_arg known = WEIR_ARG_UNKNOWN;
    for (uint32_t k = 0; k < all->arg_count; k++) {
        if (all->args[k] == WEIR_ARG_UNKNOWN) {
            continue;
        }
        if (known != WEIR_ARG_UNKNOWN && known != all->args[k]) {
            return NULL;
        }
        known = all->args[k];
    }
    const struct weir_function *found = NULL;
    for (uint32_t i = 0; known != WEIR_ARG_UNKNOWN && i < all->count; i++) {
        bool is_fit = true;
        for (uint32_t k = 0; k < all->arg_count; k++) {
            is_fit = is_fit && weir_arg_is_coercible(known, declared(all->functions[i], k));
        }
        if (is_fit) {
            if (found != NULL) {
                return NULL;
            }
            found = all->functions[i];
        }
    }
    return found;
}

static const struct weir_function *choose(struct candidates *all)
{
    const struct weir_function *found = find_exact(all, all->args);
    if (found == NULL && all->arg_count == 2 && weir_function_is_operator(all->name)) {
        found = find_exact_binary(all);
    }
    if (found != NULL) {
        return found;
    }
    keep_coercible(all);
    if (all->count > 1) {
        keep_best(all, false);
    }
    if (all->count > 1) {
        keep_best(all, true);
    }
    bool has_unknown = false;
    for (uint32_t k = 0; k < all->arg_count; k++) {
        has_unknown = has_unknown || all->args[k] == WEIR_ARG_UNKNOWN;
    }
    if (all->count > 1 && has_unknown) {
        keep_guessed(all);
    }
    if (all->count > 1 && has_unknown) {
        return find_by_known(all);
    }
    return all->count == 1 ? all->functions[0] : NULL;
}

// --- messages --------------------------------------------------------------------------------

static void append_call(struct weir_buffer *out, const char *name, uint32_t arg_count,
                        struct weir_expr *const *args)
{
    char text[WEIR_TYPE_NAME_BYTES];
    if (weir_function_is_operator(name)) {
        if (arg_count == 2) {
            weir_buffer_printf(out, "%s ", weir_expr_type_name(args[0], text));
        }
        weir_buffer_printf(out, "%s %s", name, weir_expr_type_name(args[arg_count - 1], text));
        return;
    }
    weir_buffer_printf(out, "%s(", name);
    for (uint32_t i = 0; i < arg_count; i++) {
        weir_buffer_printf(out, "%s%s", i != 0 ? ", " : "", weir_expr_type_name(args[i], text));
    }
    weir_buffer_append_char(out, ')');
}

struct nearest {
    const char *name;
    const char *best;
    uint32_t distance;
};

enum { NAME_BYTES_MAX = 63, DISTANCE_MAX = 2 };

// Edits (insert, delete, replace) between two names of at most NAME_BYTES_MAX bytes.
static uint32_t edit_distance(const char *a, const char *b)
{
    uint32_t row[NAME_BYTES_MAX + 1];
    uint32_t b_size = (uint32_t)strlen(b);
    for (uint32_t k = 0; k <= b_size; k++) {
        row[k] = k;
    }
    for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t k = 1; k <= b_size; k++) {
            uint32_t replaced = diagonal + (a[i - 1] != b[k - 1]);
            uint32_t shorter = row[k - 1] < row[k] ? row[k - 1] : row[k];
            diagonal = row[k];
            row[k] = shorter + 1 < replaced ? shorter + 1 : replaced;
        }
    }
    return row[b_size];
}

static bool look_nearer(const struct weir_function *function, void *context)
{
    struct nearest *nearest = context;
    if (function->kernel != NULL && !weir_function_is_operator(function->name)) {
        uint32_t distance = edit_distance(nearest->name, function->name);
        if (distance < nearest->distance) {
            nearest->distance = distance;
            nearest->best = function->name;
        }
    }
    return true;
}

struct overloads {
    const char *name;
    struct weir_buffer *out;
    uint32_t count;
};

static bool append_overload(const struct weir_function *function, void *context)
{
    struct overloads *overloads = context;
    if (function->kernel != NULL && strcmp(function->name, overloads->name) == 0) {
        weir_buffer_printf(overloads->out, "%s", overloads->count++ == 0 ? "; there is " : ", ");
        weir_function_signature(function, overloads->out);
    }
    return true;
}

static enum weir_status refuse(const struct candidates *all, struct weir_expr *const *args,
                               struct weir_error *error)
{
    bool is_operator = weir_function_is_operator(all->name);
    struct weir_buffer text = {0};
    if (all->count > 1) {
        weir_buffer_printf(&text, is_operator ? "operator is not unique: " : "function ");
        append_call(&text, all->name, all->arg_count, args);
        weir_buffer_printf(&text, "%s: give the literals a type, e.g. CAST('…' AS integer)",
                           is_operator ? "" : " is not unique");
    } else {
        weir_buffer_printf(&text, is_operator ? "operator does not exist: " : "function ");
        append_call(&text, all->name, all->arg_count, args);
        weir_buffer_printf(&text, is_operator ? "" : " does not exist");
        struct nearest nearest = {.name = all->name, .distance = DISTANCE_MAX + 1};
        if (!is_operator && !all->is_name_known && strlen(all->name) <= NAME_BYTES_MAX) {
            weir_function_each(look_nearer, &nearest);
        }
        if (nearest.best != NULL) {
            weir_buffer_printf(&text, "; did you mean %s?", nearest.best);
        }
        struct overloads overloads = {.name = all->name, .out = &text};
        if (!is_operator) {
            weir_function_each(append_overload, &overloads);
        }
    }
    enum weir_status status = weir_expr_refuse(error, "%s", weir_buffer_text(&text));
    weir_buffer_deinit(&text);
    return status;
}

enum weir_status weir_function_resolve(const char *name, uint32_t arg_count,
                                       struct weir_expr *const *args,
                                       const struct weir_function **function,
                                       struct weir_error *error)
{
    if (arg_count > ARGS_MAX) {
        return weir_expr_refuse(error, "cannot pass more than %d arguments to a function",
                                ARGS_MAX);
    }
    struct candidates all = {.name = name, .arg_count = arg_count};
    for (uint32_t i = 0; i < arg_count; i++) {
        all.args[i] = weir_arg_of(args[i]);
    }
    weir_function_each(collect, &all);
    *function = choose(&all);
    if (*function == NULL) {
        return refuse(&all, args, error);
    }
    if ((*function)->kernel == NULL) {
        struct weir_buffer text = {0};
        weir_function_signature(*function, &text);
        enum weir_status status = weir_expr_refuse(
            error, "%s %s is not supported yet",
            weir_function_is_operator(name) ? "operator" : "function", weir_buffer_text(&text));
        weir_buffer_deinit(&text);
        return status;
    }
    return WEIR_OK;
}
