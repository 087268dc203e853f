// SPDX-License-Identifier: Apache-2.0
// Subscripts of the parse tree (parse.h): a[1], a[1][2].
#include "sql/parse.h"

struct weir_ast_expr *weir_parse_subscripts(struct weir_parse_context *context,
                                            struct weir_ast_expr *expr,
                                            const struct weir_parse_list *steps, uint32_t *at)
{
    struct weir_ast_expr *subscript = weir_arena_alloc_zero(context->arena, sizeof(*subscript));
    subscript->kind = WEIR_AST_SUBSCRIPT;
    subscript->offset = expr->offset;
    subscript->args =
        weir_arena_alloc(context->arena, (steps->count - *at + 1) * sizeof(*subscript->args));
    subscript->args[subscript->arg_count++] = expr;
    subscript->label = expr->label;
    subscript->is_label_weak = expr->is_label_weak;
    for (;; ++*at) {
        const struct weir_parse_node *indices = weir_parse_as(steps->items[*at], "A_Indices");
        if (weir_parse_bool(indices, "is_slice")) {
            return weir_parse_refuse(context, expr->offset, NULL,
                                     " yet: slices of arrays (a[1:2])");
        }
        struct weir_ast_expr *index = weir_parse_expr(context, weir_parse_get(indices, "uidx"));
        if (index == NULL) {
            return NULL;
        }
        subscript->args[subscript->arg_count++] = index;
        if (*at + 1 == steps->count || weir_parse_as(steps->items[*at + 1], "A_Indices") == NULL) {
            return subscript;
        }
    }
}
