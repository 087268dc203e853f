// SPDX-License-Identifier: Apache-2.0
// Any text as the SQL of a job. It is planned or refused, with a word about what is wrong where; a
// plan can be printed in every form, and is the same when it is made again.
#include "fuzz.h"
#include "runtime/types/text_io.h"
#include "sql/plan.h"

static bool plan_text(const char *text, struct weir_arena *arena, struct weir_buffer *out)
{
    const struct weir_plan *plan = NULL;
    struct weir_sql_faults faults = {0};
    if (weir_sql_plan_all(text, arena, &plan, &faults) != WEIR_OK) {
        require(faults.count > 0, "a text is refused without a fault");
        for (uint32_t i = 0; i < faults.count; i++) {
            require(faults.items[i].message[0] != '\0', "a fault without a word");
            weir_buffer_printf(out, "%s\n", faults.items[i].text);
        }
        return false;
    }
    require(faults.count == 0, "a plan with faults");
    for (enum weir_explain_form form = WEIR_EXPLAIN_TEXT; form <= WEIR_EXPLAIN_SVG; form++) {
        weir_plan_explain(plan, form, out);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    char *text = malloc(size_bytes + 1);
    require(text != NULL, "out of memory");
    if (size_bytes != 0) {
        memcpy(text, data, size_bytes);
    }
    text[size_bytes] = '\0';
    struct weir_buffer prints[2] = {{0}};
    struct weir_arena *arena = weir_arena_create(64 * 1024);
    bool is_plan = plan_text(text, arena, &prints[0]);
    require(plan_text(text, arena, &prints[1]) == is_plan && is_same_bytes(&prints[0], &prints[1]),
            "the same text gives something else the second time");
    struct weir_value_error error;
    struct weir_view whole = {text, strlen(text)};
    struct weir_view printed = {prints[0].data, prints[0].size_bytes};
    require(!weir_text_validate(whole, &error) || prints[0].size_bytes == 0 ||
                weir_text_validate(printed, &error),
            "what is printed is not UTF-8, though the text is");
    weir_buffer_deinit(&prints[0]);
    weir_buffer_deinit(&prints[1]);
    weir_arena_destroy(arena);
    free(text);
    return 0;
}
