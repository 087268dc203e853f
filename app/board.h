// SPDX-License-Identifier: Apache-2.0
// The board: what the process is doing, as a copy that others may look at (HTTP) while the job goes
// on. The main thread and the coordinator write it, whoever looks holds the lock. Nothing in the
// engine is decided by it.
//
// Threads: any, by the lock; never held while anything waits. Functions accept a board that is
// NULL: then nobody looks.
#ifndef WEIR_APP_BOARD_H
#define WEIR_APP_BOARD_H

#include "app/config.h"
#include "runtime/base/clock.h"
#include "runtime/checkpoint_event.h"

#include <pthread.h>

struct weir_job_figures;
struct weir_registries;
struct weir_watch;

enum weir_job_state {
    WEIR_JOB_STARTING,   // not yet asked any broker
    WEIR_JOB_RECOVERING, // connecting, fencing, restoring
    WEIR_JOB_RUNNING,
    WEIR_JOB_STOPPING, // a final checkpoint is being made, or the tasks are taken down
    WEIR_JOB_WAITING,  // a pause before it goes back to the last committed checkpoint
    WEIR_JOB_ENDED,
    WEIR_JOB_FAILED,
    WEIR_JOB_STATE_COUNT,
};

const char *weir_job_state_name(enum weir_job_state state);

enum {
    WEIR_BOARD_CHECKPOINTS = 64, // the newest ones are remembered
    WEIR_BOARD_RESTARTS = 32,
    WEIR_BOARD_TEXT_BYTES = 512,
};

// Phases in which tasks work side by side.
enum weir_board_phase {
    WEIR_BOARD_TRIGGER,
    WEIR_BOARD_ALIGN,
    WEIR_BOARD_SNAPSHOT,
    WEIR_BOARD_FLUSH,
    WEIR_BOARD_PHASE_COUNT,
};

struct weir_board_checkpoint {
    struct weir_checkpoint_event event;       // its text is below
    char text[WEIR_BOARD_TEXT_BYTES];         // why it failed
    char slowest[WEIR_BOARD_PHASE_COUNT][64]; // the task that took longest; "": none took any time
};

struct weir_board_restart {
    int64_t at_ms; // wall clock
    const char *reason;
    char text[WEIR_BOARD_TEXT_BYTES];
};

// Parts of a life that can be looked at; all of them live until weir_board_end_life.
struct weir_board_life {
    const char *attempt;
    struct weir_job_figures *figures;
    struct weir_watch *watch;
    const struct weir_registries *registries; // NULL: none
};

struct weir_board {
    struct weir_checkpoint_observer observer; // first: the interface
    pthread_mutex_t lock;                     // of everything that changes
    const struct weir_config *config;
    const struct weir_plan *plan;
    const struct weir_clock *clock;
    int64_t started_ms; // wall clock

    enum weir_job_state state;
    int64_t state_since_ms;           // wall clock
    char text[WEIR_BOARD_TEXT_BYTES]; // more about the state: what failed; may be empty

    bool has_life;
    struct weir_board_life life;

    int64_t last_completed; // -1: none yet
    int64_t fresh_ms;       // monotonic: when it was completed, or skipped as nothing had changed
    uint32_t checkpoint_count; // all so far; the newest are in the ring
    struct weir_board_checkpoint checkpoints[WEIR_BOARD_CHECKPOINTS];
    uint32_t restart_count;
    struct weir_board_restart restarts[WEIR_BOARD_RESTARTS];
    bool is_doubtful; // no checkpoint was completed since the last of them: not ready

    // Series that are always there.
    struct weir_metric *states[WEIR_JOB_STATE_COUNT];
    struct weir_metric *ready;
    struct weir_metric *completed;
    struct weir_metric *failed;
    struct weir_metric *failures[WEIR_FAILURE_COUNT]; // of NONE: NULL
    struct weir_metric *skipped;
    struct weir_metric *last;
    struct weir_metric *age;
    struct weir_metric *phases[5];
    struct weir_metric *log_bytes;
    struct weir_metric *materialised_bytes;
    struct weir_metric *build;
    struct weir_metric *budget;
    struct weir_metric *resident;
    struct weir_metric *open_files;
    struct weir_metric *threads;
};

struct weir_board *weir_board_create(const struct weir_config *config, const struct weir_plan *plan,
                                     const struct weir_clock *clock);
void weir_board_destroy(struct weir_board *board); // nobody looks any more

// text may be NULL. Secrets in it are masked, as everywhere here.
void weir_board_set_state(struct weir_board *board, enum weir_job_state state, const char *text);

// The job goes back to its last committed checkpoint. reason: one of the words that metrics have as
// labels; lives as long as the process.
void weir_board_note_restart(struct weir_board *board, const char *reason, const char *text);

// A life runs; its parts are copied. number: of the checkpoint that it goes on from.
void weir_board_begin_life(struct weir_board *board, const struct weir_board_life *life,
                           int64_t number);
// Afterwards nobody looks at its parts.
void weir_board_end_life(struct weir_board *board);

// With the lock held. True: ready; else a line for each thing that is missing.
bool weir_board_is_ready(struct weir_board *board, struct weir_buffer *reasons);

// Brings the gauges of /metrics up to date. Takes the lock.
void weir_board_refresh(struct weir_board *board);

#endif
