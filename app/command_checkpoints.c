// SPDX-License-Identifier: Apache-2.0
// `weir checkpoints`: what the checkpoint store of a job holds. Reads only; the job may be running.
#include "app/checkpoints_json.h"
#include "app/command.h"
#include "app/exit_code.h"
#include "runtime/store.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ARGUMENTS_MAX = 2, OPTION_JSON = 1 << 0 };

struct looking {
    const struct weir_cli *cli;
    struct weir_arena *arena;
    struct weir_store *store;
    struct weir_store_entry *entries;
    uint32_t entry_count;
    struct weir_checkpoints_json *json; // NULL: as text
};

static int complain(const struct weir_cli *cli, const struct weir_error *error)
{
    fprintf(cli->err, "weir: %s\n", error->text);
    return WEIR_EXIT_REFUSED;
}

static void list_as_json(const struct looking *looking)
{
    for (uint32_t i = 0; i < looking->entry_count; i++) {
        const struct weir_store_entry *entry = &looking->entries[i];
        struct weir_manifest manifest;
        struct weir_error error;
        bool is_missing;
        if (weir_store_read_manifest(looking->store, entry->number, &entry->attempt, looking->arena,
                                     &manifest, &is_missing, &error) == WEIR_OK) {
            weir_checkpoints_json_add(looking->json, entry, &manifest, false);
        } else if (!is_missing) { // else it was deleted meanwhile
            weir_checkpoints_json_add_broken(looking->json, entry, error.text);
        }
    }
}

static int list(const struct looking *looking)
{
    if (looking->json != NULL) {
        list_as_json(looking);
        return WEIR_EXIT_OK;
    }
    FILE *out = looking->cli->out;
    fprintf(out, "%8s  %-16s  %-20s  %-10s  %10s  %6s\n", "number", "attempt", "written", "kind",
            "partitions", "states");
    for (uint32_t i = 0; i < looking->entry_count; i++) {
        const struct weir_store_entry *entry = &looking->entries[i];
        struct weir_manifest manifest;
        struct weir_error error;
        bool is_missing;
        char time[WEIR_UTC_BYTES];
        fprintf(out, "%8" PRId64 "  %-16s  ", entry->number, entry->attempt.text);
        fprintf(out, "%s", weir_utc_text(entry->modified_ms, time));
        if (weir_store_read_manifest(looking->store, entry->number, &entry->attempt, looking->arena,
                                     &manifest, &is_missing, &error) != WEIR_OK) {
            fprintf(out, "  %s\n",
                    is_missing ? "deleted meanwhile" : "DAMAGED: weir checkpoints verify");
            continue;
        }
        fprintf(out, "  %-10s  %10" PRIu32 "  %6" PRIu32 "\n", manifest.kind,
                manifest.position_count, manifest.state_count);
    }
    return WEIR_EXIT_OK;
}

static const char *name_of_operator(const struct weir_manifest *manifest, const char *id)
{
    for (uint32_t i = 0; i < manifest->operator_count; i++) {
        if (strcmp(manifest->operators[i].id, id) == 0) {
            return manifest->operators[i].name;
        }
    }
    return id;
}

static void show_one(const struct looking *looking, const struct weir_manifest *manifest)
{
    FILE *out = looking->cli->out;
    char time[WEIR_UTC_BYTES];
    fprintf(out,
            "checkpoint %" PRId64 " of attempt %s, %s, weir %s, cluster %s, restore %s, at %s\n",
            manifest->number, manifest->attempt.text, manifest->kind, manifest->weir_version,
            manifest->cluster_id, manifest->restore, weir_utc_text(manifest->created_ms, time));
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        const struct weir_position_entry *entry = &manifest->positions[i].entry;
        fprintf(out, "  table %s, topic %s, partition %" PRId32 ": next offset %" PRId64 "\n",
                entry->table, entry->topic, entry->partition, entry->offset);
    }
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        const struct weir_state_handle *state = &manifest->states[i];
        fprintf(out, "  stage %s, key groups %u to %u:\n", state->stage, state->key_groups.first,
                state->key_groups.first + state->key_groups.count - 1);
        for (uint32_t j = 0; j < state->rows_count; j++) {
            fprintf(out, "    %s: %" PRId64 " rows\n",
                    name_of_operator(manifest, state->rows[j].operator_id), state->rows[j].count);
        }
        for (uint32_t j = 0; j < state->file_count; j++) {
            fprintf(out, "    %s, %" PRIu64 " bytes\n", state->files[j].name,
                    state->files[j].size_bytes);
        }
    }
    for (uint32_t i = 0; i < manifest->operator_state_count; i++) {
        const struct weir_operator_state_part *part = &manifest->operator_states[i];
        uint64_t bytes = 0;
        for (uint32_t j = 0; j < part->item_count; j++) {
            bytes += part->items[j].size_bytes;
        }
        fprintf(out,
                "  operator %s, state \"%s\" (%s), task %" PRIu32 " of %" PRIu32 ": %" PRIu64
                " bytes\n",
                part->operator_id, part->name, weir_operator_state_kind_name(part->kind),
                part->task_idx, part->task_count, bytes);
    }
}

// Every file of a manifest, by size and checksum. Counts what is wrong.
static uint32_t verify_files(const struct looking *looking, const struct weir_manifest *manifest)
{
    uint32_t fault_count = 0;
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        for (uint32_t j = 0; j < manifest->states[i].file_count; j++) {
            struct weir_error error;
            if (weir_store_verify_file(looking->store, &manifest->states[i].files[j], &error) !=
                WEIR_OK) {
                fault_count++;
                if (looking->json != NULL) {
                    weir_checkpoints_json_fault(looking->json, error.text);
                } else {
                    fprintf(looking->cli->out, "%s\n", error.text);
                }
            }
        }
    }
    return fault_count;
}

static uint32_t look_at_one(const struct looking *looking, const struct weir_store_entry *entry,
                            bool is_verify)
{
    struct weir_manifest manifest;
    struct weir_error error;
    bool is_missing;
    struct weir_checkpoints_json *json = looking->json;
    if (weir_store_read_manifest(looking->store, entry->number, &entry->attempt, looking->arena,
                                 &manifest, &is_missing, &error) != WEIR_OK) {
        if (json != NULL) {
            weir_checkpoints_json_add_broken(json, entry, error.text);
        } else {
            fprintf(looking->cli->out, "%s\n", error.text);
        }
        return 1;
    }
    if (json != NULL) {
        weir_checkpoints_json_add(json, entry, &manifest, !is_verify);
    } else if (!is_verify) {
        show_one(looking, &manifest);
    }
    if (!is_verify) {
        return 0;
    }
    uint32_t fault_count = verify_files(looking, &manifest);
    if (json != NULL) {
        weir_checkpoints_json_fault(json, NULL);
    } else {
        fprintf(looking->cli->out, "checkpoint %" PRId64 " of attempt %s: %s\n", entry->number,
                entry->attempt.text, fault_count == 0 ? "intact" : "DAMAGED");
    }
    return fault_count;
}

// Shows or verifies the checkpoints of that number (NULL: all).
static int look_at(const struct looking *looking, const char *number_text, bool is_verify)
{
    int64_t number = -1;
    if (number_text != NULL) {
        char *end;
        number = strtoll(number_text, &end, 10);
        if (*end != '\0' || end == number_text || number < 0) {
            fprintf(looking->cli->err, "weir: \"%s\" is no checkpoint number\n", number_text);
            return WEIR_EXIT_REFUSED;
        }
    }
    uint32_t found_count = 0;
    uint32_t fault_count = 0;
    for (uint32_t i = 0; i < looking->entry_count; i++) {
        const struct weir_store_entry *entry = &looking->entries[i];
        if (number >= 0 && entry->number != number) {
            continue;
        }
        found_count++;
        fault_count += look_at_one(looking, entry, is_verify);
    }
    if (found_count == 0 && number >= 0) {
        fprintf(looking->cli->err, "weir: %s holds no checkpoint %" PRId64 "\n",
                weir_store_path(looking->store), number);
        return WEIR_EXIT_REFUSED;
    }
    return fault_count == 0 ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
}

static int dispatch(const struct looking *looking, const struct weir_command_line *line)
{
    const char *verb = line->argument_count > 0 ? line->arguments[0] : "list";
    const char *number = line->argument_count > 1 ? line->arguments[1] : NULL;
    if (strcmp(verb, "list") == 0 && number == NULL) {
        return list(looking);
    }
    if (strcmp(verb, "show") == 0 && number != NULL) {
        return look_at(looking, number, false);
    }
    if (strcmp(verb, "verify") == 0) {
        return look_at(looking, number, true);
    }
    fprintf(looking->cli->err,
            "weir: checkpoints takes list, show N or verify [N] (weir checkpoints --help)\n");
    return WEIR_EXIT_REFUSED;
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    struct weir_error error;
    weir_command_load_given(cli, arena, &config, &faults);
    struct looking looking = {.cli = cli, .arena = arena};
    int exit_code;
    if (faults.count > 0) {
        weir_fault_list_print(&faults, cli->err);
        exit_code = WEIR_EXIT_REFUSED;
    } else if (config.job_id == NULL) {
        fprintf(cli->err, "weir: WEIR_JOB_ID: not set; it names the job's folder in the store\n");
        exit_code = WEIR_EXIT_REFUSED;
    } else if (weir_store_open_read_only(config.checkpoint_dir, config.job_id,
                                         (int32_t)config.instance_id, &looking.store,
                                         &error) != WEIR_OK ||
               weir_store_list(looking.store, arena, &looking.entries, &looking.entry_count,
                               &error) != WEIR_OK) {
        exit_code = complain(cli, &error);
    } else {
        bool is_json = (line->options & OPTION_JSON) != 0;
        looking.json = is_json ? weir_checkpoints_json_begin(weir_store_path(looking.store)) : NULL;
        exit_code = dispatch(&looking, line);
        if (is_json) {
            weir_checkpoints_json_end(looking.json,
                                      exit_code != WEIR_EXIT_REFUSED ? cli->out : NULL);
        }
    }
    weir_store_close(looking.store);
    weir_arena_destroy(arena);
    return exit_code;
}

const struct weir_command weir_checkpoints_command = {
    .name = "checkpoints",
    .summary = "list, show or verify the checkpoints of a job",
    .arguments = "[list | show N | verify [N]]",
    .argument_count_max = ARGUMENTS_MAX,
    .help = "Looks into the checkpoint store of WEIR_JOB_ID (WEIR_CHECKPOINT_DIR); nothing is\n"
            "changed, and the job may be running. verify reads every file that a checkpoint lists\n"
            "and compares size and checksum; the exit code is 1 when something is damaged.\n",
    .options = {{"--json", "as JSON", NULL}},
    .run = run,
};
