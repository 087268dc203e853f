// SPDX-License-Identifier: Apache-2.0
// The names that a job has created so far (planner.h). Tables and views share one name space, as in
// PostgreSQL; types have their own. A job has few of them: lists are searched from the front.
#include "sql/nearest.h"
#include "sql/planner.h"

#include <string.h>

// Room for one more item at the end of a list.
static void *grow(struct weir_arena *arena, void *items, uint32_t count, size_t item_bytes)
{
    return weir_arena_realloc(arena, items, count * item_bytes, (count + 1) * item_bytes);
}

struct weir_catalog_table *weir_catalog_find_table(const struct weir_planner *planner,
                                                   const char *name)
{
    for (uint32_t i = 0; i < planner->table_count; i++) {
        if (strcmp(planner->tables[i]->table.name, name) == 0) {
            return planner->tables[i];
        }
    }
    return NULL;
}

struct weir_catalog_view *weir_catalog_find_view(const struct weir_planner *planner,
                                                 const char *name)
{
    for (uint32_t i = 0; i < planner->view_count; i++) {
        if (strcmp(planner->views[i]->name, name) == 0) {
            return planner->views[i];
        }
    }
    return NULL;
}

const char *weir_catalog_nearest(const struct weir_planner *planner, const char *name,
                                 bool with_views)
{
    struct weir_nearest nearest = weir_nearest_start(name);
    for (uint32_t i = 0; i < planner->table_count; i++) {
        weir_nearest_offer(&nearest, planner->tables[i]->table.name);
    }
    for (uint32_t i = 0; with_views && i < planner->view_count; i++) {
        weir_nearest_offer(&nearest, planner->views[i]->name);
    }
    return nearest.best;
}

enum weir_status weir_catalog_check_name(struct weir_planner *planner, const char *name,
                                         int32_t offset)
{
    if (weir_catalog_find_table(planner, name) != NULL ||
        weir_catalog_find_view(planner, name) != NULL) {
        return weir_fault_add(&planner->faults, offset, NULL, "relation \"%s\" already exists",
                              name);
    }
    return WEIR_OK;
}

void weir_catalog_add_table(struct weir_planner *planner, struct weir_catalog_table *table)
{
    planner->tables =
        grow(planner->arena, planner->tables, planner->table_count, sizeof(*planner->tables));
    planner->tables[planner->table_count++] = table;
}

void weir_catalog_add_view(struct weir_planner *planner, struct weir_catalog_view *view)
{
    planner->views =
        grow(planner->arena, planner->views, planner->view_count, sizeof(*planner->views));
    planner->views[planner->view_count++] = view;
}

void weir_catalog_add_type(struct weir_planner *planner, const char *name,
                           const struct weir_composite *composite)
{
    planner->types =
        grow(planner->arena, planner->types, planner->type_count, sizeof(*planner->types));
    planner->types[planner->type_count++] =
        (struct weir_catalog_type){.name = name, .composite = composite};
}
