// SPDX-License-Identifier: Apache-2.0
// See command.h.
#include "app/command.h"

#include "app/exit_code.h"
#include "app/job_check.h"
#include "runtime/base/failpoint.h"

#include <time.h>

const char *weir_utc_text(int64_t unix_ms, char text[WEIR_UTC_BYTES])
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(text, WEIR_UTC_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

const struct weir_plan *weir_command_load(const struct weir_cli *cli, struct weir_arena *arena,
                                          struct weir_config *config,
                                          struct weir_fault_list *faults)
{
    weir_fault_list_init(faults, arena);
    weir_config_load(
        &(struct weir_config_input){.environment = cli->environment, .root_dir = cli->root_dir},
        arena, config, faults);
    return config->sql_text != NULL ? weir_job_check(config, arena, faults) : NULL;
}

void weir_command_load_to_act(const struct weir_cli *cli, struct weir_arena *arena,
                              struct weir_config *config, struct weir_fault_list *faults)
{
    struct weir_error error;
    weir_command_load(cli, arena, config, faults);
    if (config->failpoints != NULL && weir_failpoints_init(config->failpoints, &error) != WEIR_OK) {
        weir_fault_list_add(faults, "%s", error.text);
    }
}

void weir_command_load_given(const struct weir_cli *cli, struct weir_arena *arena,
                             struct weir_config *config, struct weir_fault_list *faults)
{
    weir_fault_list_init(faults, arena);
    weir_config_load(&(struct weir_config_input){.environment = cli->environment,
                                                 .root_dir = cli->root_dir,
                                                 .is_partial_ok = true,
                                                 .is_sql_optional = true},
                     arena, config, faults);
}

int weir_command_refuse(const struct weir_cli *cli, const struct weir_fault_list *faults)
{
    weir_fault_list_print(faults, cli->err);
    return faults->unreachable_count == faults->count ? WEIR_EXIT_FAILED : WEIR_EXIT_REFUSED;
}

int weir_command_fail(const struct weir_cli *cli, const struct weir_error *error)
{
    fprintf(cli->err, "weir: %s\n", error->text);
    bool is_refused = error->action == WEIR_ACTION_REFUSE || error->domain == WEIR_DOMAIN_ACCESS;
    return is_refused ? WEIR_EXIT_REFUSED : WEIR_EXIT_FAILED;
}
