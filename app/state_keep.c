// SPDX-License-Identifier: Apache-2.0
// See state_keep.h.
#include "app/state_keep.h"

#include "runtime/base/log.h"

#include <inttypes.h>

static void log_items(const struct weir_job_change *change, enum weir_state_fate fate,
                      const char *what)
{
    for (uint32_t i = 0; i < change->item_count; i++) {
        if (change->items[i].fate == fate) {
            struct weir_buffer text = {0};
            weir_state_item_print(&change->items[i], &text);
            weir_log(WEIR_LOG_WARN, "%s: %s", what, weir_buffer_text(&text));
            weir_buffer_deinit(&text);
        }
    }
}

enum weir_status weir_state_keep(const struct weir_job_context *context,
                                 struct weir_recovered *recovered,
                                 const struct weir_manifest *manifest, bool is_deciding,
                                 struct weir_arena *arena, struct weir_error *error)
{
    const struct weir_job_change *change = &recovered->change;
    weir_job_change_find(context->plan, manifest, arena, &recovered->change);
    // That of an operator which is gone is what nobody opens.
    recovered->operator_state_count = manifest != NULL ? manifest->operator_state_count : 0;
    recovered->operator_states = manifest != NULL ? manifest->operator_states : NULL;
    if (weir_job_change_check(change, context->config->is_state_loss_allowed, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (is_deciding) {
        log_items(change, WEIR_STATE_LOST, "WEIR_ALLOW=state_loss: state is dropped");
        log_items(change, WEIR_STATE_FROM_NOW, "the job has changed");
    }
    return WEIR_OK;
}
