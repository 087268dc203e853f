// SPDX-License-Identifier: Apache-2.0
// Random rows that come and are taken back, with barriers and restarts in between, against a model
// that computes every group anew from the rows that are left. What the operator takes back must be
// what it sent.
#include "aggregates.h"

enum { LIVE_MAX = 400, GROUP_COUNT = 7, STEPS = 150, LINE_BYTES = 128 };

static const char COLUMNS[] = "g:text i:integer b:bigint n:numeric d:double_precision t:text "
                              "f:boolean";
static const char AGGREGATES[] =
    "count(*); count(i); sum(i); sum(b); avg(i); sum(n); avg(n); min(n); max(n); sum(d); avg(d); "
    "min(i); max(i); min(t); max(t); max(d); count(distinct i); sum(distinct n); "
    "count(distinct t) filter f; sum(i) filter f; max(t) filter f; min(distinct b)";

// No two are equal: of equal ones it is open which spelling comes out.
static const char *const NUMERICS[] = {
    "NULL", "1.5", "-2.25", "0", "123456789012345678901234567890.125", "7.10", "NaN", "-9e20"};
static const char *const TEXTS[] = {"NULL", "", "a", "ab", "b", "abc", "ABC", "zz"};
static const char *const FILTERS[] = {"NULL", "t", "f"};

struct row {
    uint32_t group;
    bool has_i;
    int32_t i;
    int64_t b;
    uint32_t n;
    int32_t d; // quarters
    uint32_t t;
    uint32_t f;
    char line[LINE_BYTES]; // without the change
};

struct model {
    uint32_t live_count;
    struct row live[LIVE_MAX];
    char sent[GROUP_COUNT][1024]; // the rows that the operator has sent; "": none
    uint32_t row_count;
    struct weir_arena *arena;
};

static uint64_t seed;

static uint32_t below(uint32_t bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % bound);
}

static struct row random_row(void)
{
    struct row row = {.group = below(GROUP_COUNT),
                      .has_i = below(5) != 0,
                      .i = (int32_t)below(20) - 10,
                      .b = INT64_MAX - below(4),
                      .n = below(8),
                      .d = (int32_t)below(1000) - 500,
                      .t = below(8),
                      .f = below(3)};
    char i[16];
    snprintf(i, sizeof i, "%d", row.i);
    snprintf(row.line, sizeof row.line, "g%u|%s|%lld|%s|%.2f|%s|%s", row.group,
             row.has_i ? i : "NULL", (long long)row.b, NUMERICS[row.n], row.d / 4.0, TEXTS[row.t],
             FILTERS[row.f]);
    return row;
}

// --- the model ----------------------------------------------------------------------------------

static struct weir_numeric numeric_of(const struct model *model, const char *text)
{
    struct weir_numeric value;
    assert_true(weir_numeric_parse(weir_view_of(text), -1, model->arena, &value, NULL));
    return value;
}

static void put_numeric(struct weir_buffer *out, struct weir_numeric value)
{
    weir_buffer_printf(out, ", ");
    weir_numeric_append(out, value);
}

static void put_integer(struct weir_buffer *out, bool has_value, int64_t value)
{
    if (has_value) {
        weir_buffer_printf(out, ", %lld", (long long)value);
    } else {
        weir_buffer_printf(out, ", NULL");
    }
}

static void put_text(struct weir_buffer *out, const char *text)
{
    weir_buffer_printf(out, ", %s", text != NULL ? text : "NULL");
}

static void put_double(struct weir_buffer *out, double value)
{
    struct weir_column column = {.type = weir_type_plain(WEIR_TYPE_DOUBLE), .data = &value};
    weir_buffer_printf(out, ", ");
    weir_text_append(out, &column, 0);
}

static struct weir_numeric average(const struct model *model, struct weir_numeric sum,
                                   int64_t count)
{
    struct weir_numeric quotient;
    assert_true(weir_numeric_divide(sum, weir_numeric_from_int64(count, model->arena), model->arena,
                                    &quotient, NULL));
    return quotient;
}

struct totals {
    int64_t rows;
    int64_t i_count;
    int64_t i_sum;
    int64_t i_min;
    int64_t i_max;
    __int128 b_sum;
    int64_t b_min;
    int64_t n_count;
    struct weir_numeric n_sum;
    struct weir_numeric n_min;
    struct weir_numeric n_max;
    struct weir_numeric n_distinct_sum;
    double d_sum;
    double d_max;
    const char *t_min;
    const char *t_max;
    const char *t_max_filtered;
    int64_t i_filtered_count;
    int64_t i_filtered_sum;
    uint64_t i_seen; // bits
    uint64_t n_seen;
    uint64_t t_seen_filtered;
};

static void add_integer(struct totals *totals, const struct row *row)
{
    if (!row->has_i) {
        return;
    }
    totals->i_min = totals->i_count == 0 || row->i < totals->i_min ? row->i : totals->i_min;
    totals->i_max = totals->i_count == 0 || row->i > totals->i_max ? row->i : totals->i_max;
    totals->i_count++;
    totals->i_sum += row->i;
    totals->i_seen |= UINT64_C(1) << (row->i + 10);
    if (row->f == 1) {
        totals->i_filtered_count++;
        totals->i_filtered_sum += row->i;
    }
}

static void add_numeric(const struct model *model, struct totals *totals, const struct row *row)
{
    if (row->n == 0) {
        return;
    }
    struct weir_numeric n = numeric_of(model, NUMERICS[row->n]);
    bool is_first = totals->n_count++ == 0;
    totals->n_min = is_first || weir_numeric_compare(n, totals->n_min) < 0 ? n : totals->n_min;
    totals->n_max = is_first || weir_numeric_compare(n, totals->n_max) > 0 ? n : totals->n_max;
    assert_true(weir_numeric_add(totals->n_sum, n, model->arena, &totals->n_sum, NULL));
    if ((totals->n_seen >> row->n & 1) == 0) {
        totals->n_seen |= UINT64_C(1) << row->n;
        assert_true(weir_numeric_add(totals->n_distinct_sum, n, model->arena,
                                     &totals->n_distinct_sum, NULL));
    }
}

static void add_text(struct totals *totals, const struct row *row)
{
    if (row->t == 0) {
        return;
    }
    const char *text = TEXTS[row->t];
    totals->t_min = totals->t_min == NULL || strcmp(text, totals->t_min) < 0 ? text : totals->t_min;
    totals->t_max = totals->t_max == NULL || strcmp(text, totals->t_max) > 0 ? text : totals->t_max;
    if (row->f == 1) {
        totals->t_seen_filtered |= UINT64_C(1) << row->t;
        if (totals->t_max_filtered == NULL || strcmp(text, totals->t_max_filtered) > 0) {
            totals->t_max_filtered = text;
        }
    }
}

static void print_totals(const struct model *model, const struct totals *totals,
                         struct weir_buffer *out)
{
    bool has_i = totals->i_count != 0;
    bool has_n = totals->n_count != 0;
    put_integer(out, true, totals->rows);
    put_integer(out, true, totals->i_count);
    put_integer(out, has_i, totals->i_sum);
    put_numeric(out, weir_numeric_from_int128(totals->b_sum, 0, model->arena));
    if (has_i) {
        put_numeric(out, average(model, weir_numeric_from_int64(totals->i_sum, model->arena),
                                 totals->i_count));
    } else {
        put_text(out, NULL);
    }
    if (has_n) {
        put_numeric(out, totals->n_sum);
        put_numeric(out, average(model, totals->n_sum, totals->n_count));
        put_numeric(out, totals->n_min);
        put_numeric(out, totals->n_max);
    } else {
        weir_buffer_printf(out, ", NULL, NULL, NULL, NULL");
    }
    put_double(out, totals->d_sum);
    put_double(out, totals->d_sum / (double)totals->rows);
    put_integer(out, has_i, totals->i_min);
    put_integer(out, has_i, totals->i_max);
    put_text(out, totals->t_min);
    put_text(out, totals->t_max);
    put_double(out, totals->d_max);
    put_integer(out, true, __builtin_popcountll(totals->i_seen));
    if (has_n) {
        put_numeric(out, totals->n_distinct_sum);
    } else {
        put_text(out, NULL);
    }
    put_integer(out, true, __builtin_popcountll(totals->t_seen_filtered));
    put_integer(out, totals->i_filtered_count != 0, totals->i_filtered_sum);
    put_text(out, totals->t_max_filtered);
    put_integer(out, true, totals->b_min);
}

static void compute(const struct model *model, uint32_t group, struct weir_buffer *out)
{
    struct totals totals = {.n_sum = weir_numeric_small(0, 0),
                            .n_distinct_sum = weir_numeric_small(0, 0)};
    for (uint32_t r = 0; r < model->live_count; r++) {
        const struct row *row = &model->live[r];
        if (row->group != group) {
            continue;
        }
        double d = row->d / 4.0;
        totals.d_max = totals.rows == 0 || d > totals.d_max ? d : totals.d_max;
        totals.b_min = totals.rows == 0 || row->b < totals.b_min ? row->b : totals.b_min;
        totals.rows++;
        totals.d_sum += d;
        totals.b_sum += row->b;
        add_integer(&totals, row);
        add_numeric(model, &totals, row);
        add_text(&totals, row);
    }
    if (totals.rows != 0) {
        weir_buffer_printf(out, "g%u", group);
        print_totals(model, &totals, out);
    }
}

// --- the operator -------------------------------------------------------------------------------

static void apply_sent(void *context, const struct weir_batch *batch, uint32_t row)
{
    struct model *model = context;
    struct weir_buffer text = {0};
    changes_append_row(&text, batch, row);
    weir_buffer_text(&text);
    uint32_t group = (uint32_t)(batch->columns[0].view[row].data[1] - '0');
    model->row_count++;
    switch ((enum weir_change)batch->change[row]) {
    case WEIR_CHANGE_INSERT:
        assert_string_equal(model->sent[group], "");
        break;
    case WEIR_CHANGE_DELETE:
    case WEIR_CHANGE_UPDATE_BEFORE:
        assert_string_equal(model->sent[group], text.data);
        text.data[0] = '\0';
        break;
    case WEIR_CHANGE_UPDATE_AFTER:
        assert_string_equal(model->sent[group], "");
        break;
    }
    snprintf(model->sent[group], sizeof model->sent[group], "%s", text.data);
    weir_buffer_deinit(&text);
}

static void feed(struct aggregates *all, struct model *model, bool has_deletes)
{
    static char lines[64][LINE_BYTES + 2];
    const char *pointers[64];
    uint32_t count = 1 + below(has_deletes ? 64 : 8);
    for (uint32_t i = 0; i < count; i++) {
        pointers[i] = lines[i];
        bool is_delete = has_deletes && model->live_count > 0 &&
                         (model->live_count == LIVE_MAX || below(100) < 48);
        if (is_delete) {
            uint32_t victim = below(model->live_count);
            snprintf(lines[i], sizeof lines[i], "%c %s", below(2) == 0 ? '-' : '<',
                     model->live[victim].line);
            model->live[victim] = model->live[--model->live_count];
            continue;
        }
        struct row row = random_row();
        snprintf(lines[i], sizeof lines[i], "%s%s",
                 !has_deletes    ? ""
                 : below(2) == 0 ? "+ "
                                 : "> ",
                 row.line);
        if (model->live_count == LIVE_MAX) {
            count = i;
            break;
        }
        model->live[model->live_count++] = row;
    }
    if (count > 0) {
        changes_feed(all->op, all->schema, count, pointers);
    }
}

static void check_all(const struct model *model)
{
    for (uint32_t group = 0; group < GROUP_COUNT; group++) {
        struct weir_buffer expected = {0};
        compute(model, group, &expected);
        assert_string_equal(model->sent[group], weir_buffer_text(&expected));
        weir_buffer_deinit(&expected);
    }
}

static void run(bool has_deletes)
{
    for (uint64_t run_seed = 1; run_seed <= 4; run_seed++) {
        seed = run_seed * UINT64_C(0x9e3779b97f4a7c15);
        struct model *model = weir_alloc_zero(sizeof *model);
        struct aggregates *all = aggregates_begin(COLUMNS, "g", AGGREGATES, NULL);
        all->config.is_input_changing = has_deletes;
        all->changes.visit = apply_sent;
        all->changes.context = model;
        aggregates_restart(all);
        for (uint32_t step = 0; step < STEPS; step++) {
            if (has_deletes || model->live_count < LIVE_MAX) {
                feed(all, model, has_deletes);
            }
            if (below(3) == 0) {
                model->arena = weir_arena_create(1 << 14);
                changes_pass_barrier(all->op, all->store);
                check_all(model);
                weir_arena_destroy(model->arena);
            }
            if (below(6) == 0) {
                changes_pass_barrier(all->op, all->store);
                aggregates_restart(all);
            }
        }
        // All go: nothing is left, of single values neither.
        while (has_deletes && model->live_count > 0) {
            char line[LINE_BYTES + 2];
            snprintf(line, sizeof line, "- %s", model->live[--model->live_count].line);
            CHANGES_FEED(all->op, all->schema, line);
        }
        changes_pass_barrier(all->op, all->store);
        struct memory_state_store *memory = (struct memory_state_store *)all->store;
        for (uint32_t i = 0; i < memory->state_count && has_deletes; i++) {
            assert_int_equal(memory->states[i]->entry_count, 0);
        }
        assert_true(model->row_count > 50);
        changes_expect_reported(&all->changes, "");
        aggregates_end(all);
        free(model);
    }
}

static void test_aggregate_of_rows_taken_back_is_that_of_those_left(void **state)
{
    (void)state;
    run(true);
}

static void test_aggregate_of_rows_that_only_come(void **state)
{
    (void)state;
    run(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aggregate_of_rows_taken_back_is_that_of_those_left),
        cmocka_unit_test(test_aggregate_of_rows_that_only_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
