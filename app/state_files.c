// SPDX-License-Identifier: Apache-2.0
// See state_files.h.
#include "app/state_files.h"

#include "rocksdb_backend/retention.h"

static void remove_unlisted(const struct weir_state_files *files, const char *store_folder,
                            uint32_t candidate_count, const char *const *candidates,
                            uint32_t kept_count, const struct weir_state_handle *kept)
{
    (void)files;
    bool *is_deleted = weir_alloc_zero(candidate_count * sizeof *is_deleted);
    weir_state_files_select(candidates, candidate_count, kept, kept_count, is_deleted);
    for (uint32_t i = 0; i < candidate_count; i++) {
        if (is_deleted[i]) {
            weir_state_file_delete(store_folder, candidates[i]);
        }
    }
    free(is_deleted);
}

static enum weir_status list(const struct weir_state_files *files, const char *store_folder,
                             struct weir_arena *arena, const char ***names, uint32_t *name_count,
                             struct weir_error *error)
{
    (void)files;
    return weir_state_files_list(store_folder, arena, names, name_count, error);
}

const struct weir_state_files weir_rocksdb_files = {.remove = remove_unlisted, .list = list};
