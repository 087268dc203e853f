// SPDX-License-Identifier: Apache-2.0
// The invariants, held at each decided commit, at each removal of a file and at the end:
//   1. the committed output is what the committed positions say (job.h);
//   2. the pointer names a manifest that is durable with every file that it lists, whatever power
//      is lost, and its positions are those that are committed; numbers never go back;
//   3. nothing is removed that the pointer's manifest needs;
//   4. at the end the store holds nothing that no manifest lists.
// Thread: there is one.
#ifndef WEIR_TESTS_SIM_CHECK_H
#define WEIR_TESTS_SIM_CHECK_H

#include "tests/sim/job.h"

// The folder of the job's checkpoints.
void sim_check_start(const char *store_folder);

// A checkpoint that was committed for a savepoint, or as the last one of a life.
struct sim_checkpoint {
    int64_t number;
    struct sim_positions positions;
    struct sim_saved *expectation;
};

// WEIR_RESTORE says so from now on, which was not said before: once, the job may begin anew, with
// that savepoint or (NULL) with nothing.
void sim_check_allow_order(const char *restore, const struct sim_checkpoint *savepoint);
bool sim_check_is_obeyed(const char *restore);
// The input was made anew: nothing that was committed counts, until the job begins anew.
// is_at_rest: nobody was running, so that whoever comes must not go on either.
void sim_check_break(bool is_at_rest);
bool sim_check_is_broken(void);
// `weir offsets reset` runs.
void sim_check_allow_rewind(void);
// Somebody has asked for a drain: last checkpoints may be behind the end of time.
void sim_check_allow_drain(void);
// How many owners have committed so far.
uint32_t sim_check_owner_count(void);
// A savepoint is said to be complete in that folder: it is durable, or the run ends here.
const struct sim_checkpoint *sim_check_savepoint(const char *path, int64_t number);

// Up to where a commit is decided.
const struct sim_positions *sim_check_positions(void);
uint32_t sim_check_commit_count(void);
// All input is in and everything has ended.
void sim_check_end(void);

// Ends the run: prints what is wrong and how to see it again.
void sim_violation(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
