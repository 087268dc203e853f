// SPDX-License-Identifier: Apache-2.0
// What the two halves of a recovery share: recover_look.c asks and changes nothing, recover.c
// fences, decides and claims. Private to them and to those who only look. Thread: the main thread.
#ifndef WEIR_APP_RECOVERING_H
#define WEIR_APP_RECOVERING_H

#include "app/recover.h"

// Everything that is collected on the way.
struct weir_recovering {
    struct weir_job_context *context;
    struct weir_arena *arena;
    struct weir_recovered *out;
    struct weir_retry retry;
    struct weir_topic_partition *topic_partitions; // of out->partitions
    struct weir_committed *committed;              // of these, once they were read
    struct weir_found found;
    struct weir_found_partition *found_partitions; // of out->starts
    struct weir_recovery decision;
    struct weir_manifest savepoint;      // once found.savepoint points at it
    struct weir_manifest start_manifest; // of a fresh start or a savepoint
};

// Fills `recovering` and asks for the cluster, as long as WEIR_CONNECT_TIMEOUT lets it.
enum weir_status weir_recover_meet_brokers(struct weir_recovering *recovery,
                                           struct weir_job_context *context,
                                           struct weir_arena *arena,
                                           struct weir_recovered *recovered,
                                           struct weir_error *error);

// What `recovered` and `found` know of partitions, from recovered->topics.
void weir_recover_list_partitions(struct weir_recovering *recovery);

// Both, and between them the topics (missing ones that can be are created) and what brokers must be
// able to do.
enum weir_status weir_recover_begin(struct weir_recovering *recovery,
                                    struct weir_job_context *context, struct weir_arena *arena,
                                    struct weir_recovered *recovered, struct weir_error *error);

// The pointer as a hint (NULL: there is none). FENCED: a newer instance owns the job.
enum weir_status weir_recover_look_at(struct weir_recovering *recovery,
                                      const struct weir_pointer **pointer,
                                      struct weir_error *error);

// Offsets with pointers, ends of the partitions, manifests, last records: all that the decision is
// made of. It changes nothing.
enum weir_status weir_recover_read(struct weir_recovering *recovery, struct weir_error *error);

// REFUSE: there is nothing that we could go on from, so the owner stays.
enum weir_status weir_recover_check_is_ours(struct weir_recovering *recovery,
                                            const struct weir_pointer *pointer,
                                            struct weir_error *error);

// After a failure, before it is told: a refusal stands only if what it rests on does (doubt.h).
enum weir_status weir_recover_doubt(const struct weir_recovering *recovery,
                                    struct weir_error *error);

// Reads and verifies the savepoint that is to be restored, unless it has been read.
enum weir_status weir_recover_load_savepoint(struct weir_recovering *recovery,
                                             struct weir_error *error);

// FENCED: the pointer is that of a newer instance.
enum weir_status weir_recover_check_owner(struct weir_recovering *recovery,
                                          const struct weir_pointer *pointer,
                                          struct weir_error *error);

// Committed offsets of recovered->partitions, into the arena.
enum weir_status weir_recover_ask_committed(struct weir_recovering *recovery,
                                            enum weir_isolation isolation,
                                            struct weir_committed **committed,
                                            struct weir_error *error);

#endif
