// SPDX-License-Identifier: Apache-2.0
// See retention.h.
#include "rocksdb_backend/retention.h"

#include "rocksdb_backend/files.h"

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left;
    const char *const *b = right;
    return strcmp(*a, *b);
}

void weir_state_files_select(const char *const *candidates, uint32_t candidate_count,
                             const struct weir_state_handle *kept, uint32_t kept_count,
                             bool *is_deleted)
{
    size_t name_count = 0;
    for (uint32_t i = 0; i < kept_count; i++) {
        name_count += kept[i].file_count;
    }
    const char **names = weir_alloc((name_count + 1) * sizeof(char *));
    size_t at = 0;
    for (uint32_t i = 0; i < kept_count; i++) {
        for (uint32_t j = 0; j < kept[i].file_count; j++) {
            names[at++] = kept[i].files[j].name;
        }
    }
    qsort(names, name_count, sizeof(char *), compare_names);
    for (uint32_t i = 0; i < candidate_count; i++) {
        is_deleted[i] =
            bsearch(&candidates[i], names, name_count, sizeof(char *), compare_names) == NULL;
    }
    free(names);
}

struct listing {
    struct weir_arena *arena;
    const char **names;
    uint32_t count;
};

static enum weir_status add_name(void *context, const char *name, struct weir_error *error)
{
    (void)error;
    struct listing *listing = context;
    if (weir_state_name_is_ours(name)) {
        listing->names =
            weir_arena_realloc(listing->arena, listing->names, listing->count * sizeof(char *),
                               (listing->count + 1) * sizeof(char *));
        listing->names[listing->count++] = weir_arena_strdup(listing->arena, name);
    }
    return WEIR_OK;
}

enum weir_status weir_state_files_list(const char *store_folder, struct weir_arena *arena,
                                       const char ***names, uint32_t *name_count,
                                       struct weir_error *error)
{
    struct listing listing = {.arena = arena};
    enum weir_status status = weir_folder_each(store_folder, add_name, &listing, error);
    *names = listing.names;
    *name_count = listing.count;
    return status;
}

void weir_state_file_delete(const char *store_folder, const char *name)
{
    weir_file_remove(store_folder, name);
}
