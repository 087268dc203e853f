// SPDX-License-Identifier: Apache-2.0
// Jobs that are cut off or scrambled: nothing crashes, and what is taken is a plan in which
// everything fits together. The texts are those of tests/sql/plan; the same ones in every run.
#include "sql/text.h"
#include "tests/unit/sql/plan_testing.h"

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_COUNT_MAX = 64, TOKEN_COUNT_MAX = 8192, CUT_STEP_BYTES = 11, ROUND_COUNT = 250 };

struct token {
    enum weir_sql_token_kind kind;
    struct weir_view text;
};

struct corpus {
    struct weir_arena *arena;
    uint32_t text_count;
    const char *texts[TEXT_COUNT_MAX];
    uint32_t first_token[TEXT_COUNT_MAX + 1]; // of each text, in `tokens`
    uint32_t token_count;
    struct token tokens[TOKEN_COUNT_MAX]; // of all texts
};

static struct corpus corpus;
static uint64_t random_state = 7;

static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % bound;
}

static const char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = weir_arena_alloc_zero(corpus.arena, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static void add_text(const char *data)
{
    struct weir_sql_text text = {.data = data, .size_bytes = strlen(data)};
    assert_true(corpus.text_count < TEXT_COUNT_MAX);
    corpus.texts[corpus.text_count++] = data;
    struct weir_sql_token token = weir_sql_token_at(&text, 0);
    while (token.kind != WEIR_SQL_TOKEN_END) {
        assert_true(corpus.token_count < TOKEN_COUNT_MAX);
        corpus.tokens[corpus.token_count++] = (struct token){
            .kind = token.kind,
            .text = {.data = data + token.offset, .size_bytes = token.size_bytes},
        };
        token = weir_sql_token_at(&text, weir_sql_token_end(&token));
    }
    corpus.first_token[corpus.text_count] = corpus.token_count;
}

static int set_up(void **state)
{
    (void)state;
    char here[] = __FILE__;
    char folder[1024];
    snprintf(folder, sizeof(folder), "%s/../../sql/plan", dirname(here));
    corpus.arena = weir_arena_create(1 << 20);
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(entries[i]->d_name, '.');
        if (dot != NULL && strcmp(dot, ".sql") == 0) {
            add_text(
                read_file(weir_arena_printf(corpus.arena, "%s/%s", folder, entries[i]->d_name)));
        }
        free(entries[i]);
    }
    free(entries);
    add_text(
        "GROUP BY HAVING DISTINCT ON (x) ORDER BY LIMIT JOIN USING LATERAL OVER (PARTITION BY) "
        "RETURNING ARRAY[1] ROW(1, 2) EXISTS ANY PRIMARY KEY DEFAULT INHERITS (t) [] $1 :: "
        "interval uuid json -1 + - * / % . , ; ) ( '' \"\" x'f' NULL t.* (t).* DELETE UPDATE");
    return corpus.text_count > 10 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    weir_arena_destroy(corpus.arena);
    return 0;
}

// Plans the text; whether it is taken.
static bool try_plan(const char *sql)
{
    struct weir_arena *arena = weir_arena_create(1 << 16);
    const struct weir_plan *plan = NULL;
    struct weir_error error = {0};
    bool is_taken = weir_sql_plan(sql, arena, &plan, &error) == WEIR_OK;
    if (is_taken) {
        plan_check(plan);
        struct weir_buffer out = {0};
        weir_plan_explain(plan, WEIR_EXPLAIN_TEXT, &out);
        weir_plan_explain(plan, WEIR_EXPLAIN_JSON, &out);
        weir_buffer_deinit(&out);
    } else {
        assert_true(error.text[0] != '\0');
        assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    }
    weir_arena_destroy(arena);
    return is_taken;
}

static void test_mutate_cut_off(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < corpus.text_count; i++) {
        size_t size_bytes = strlen(corpus.texts[i]);
        char *text = weir_strdup(corpus.texts[i]);
        for (size_t end = i % CUT_STEP_BYTES; end < size_bytes; end += CUT_STEP_BYTES) {
            char kept = text[end];
            text[end] = '\0';
            try_plan(text);
            text[end] = kept;
        }
        free(text);
    }
}

static void put_token(struct weir_buffer *out, const struct token *token)
{
    weir_buffer_append(out, token->text.data, token->text.size_bytes);
    weir_buffer_append_char(out, ' ');
}

// Mostly one of the same kind from the same text, else any.
static const struct token *another(uint32_t text_idx, const struct token *token)
{
    uint32_t first = corpus.first_token[text_idx];
    uint32_t count = corpus.first_token[text_idx + 1] - first;
    for (uint32_t tries = random_below(20); tries > 0; tries--) {
        const struct token *other = &corpus.tokens[first + random_below(count)];
        if (other->kind == token->kind) {
            return other;
        }
    }
    return &corpus.tokens[random_below(corpus.token_count)];
}

// The text with one to three tokens replaced, dropped, doubled or followed by another.
static char *scramble(uint32_t text_idx)
{
    struct weir_buffer out = {0};
    uint32_t first = corpus.first_token[text_idx];
    uint32_t end = corpus.first_token[text_idx + 1];
    uint32_t change_at[3];
    for (uint32_t i = 0; i < 3; i++) {
        change_at[i] = first + random_below((end - first) * (1 + 3 * i)); // may lie behind the end
    }
    for (uint32_t i = first; i < end; i++) {
        const struct token *token = &corpus.tokens[i];
        bool is_changed = i == change_at[0] || i == change_at[1] || i == change_at[2];
        uint32_t change = is_changed ? random_below(10) : 10;
        if (change < 7) {
            put_token(&out, another(text_idx, token));
        } else if (change > 7) {
            put_token(&out, token);
        }
        if (change == 8) {
            put_token(&out, token);
        } else if (change == 9) {
            put_token(&out, another(text_idx, token));
        }
    }
    char *copy = weir_strdup(weir_buffer_text(&out));
    weir_buffer_deinit(&out);
    return copy;
}

static void test_mutate_scrambled(void **state)
{
    (void)state;
    uint32_t taken_count = 0;
    for (uint32_t round = 0; round < ROUND_COUNT; round++) {
        for (uint32_t i = 0; i < corpus.text_count; i++) {
            char *text = scramble(i);
            taken_count += try_plan(text);
            free(text);
        }
    }
    // Else the changes are so wild that nothing behind the grammar is reached.
    assert_true(taken_count > ROUND_COUNT);
}

static void test_mutate_bytes(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < ROUND_COUNT / 2; round++) {
        for (uint32_t i = 0; i < corpus.text_count; i++) {
            char *text = weir_strdup(corpus.texts[i]);
            for (uint32_t change = 0; change < 3; change++) {
                text[random_below((uint32_t)strlen(text))] = (char)(1 + random_below(255));
            }
            try_plan(text);
            free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutate_cut_off),
        cmocka_unit_test(test_mutate_scrambled),
        cmocka_unit_test(test_mutate_bytes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
