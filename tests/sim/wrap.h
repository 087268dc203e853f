// SPDX-License-Identifier: Apache-2.0
// What the linker puts in the place of calls to the system and to a few functions of weir (--wrap,
// see CMakeLists.txt): inside a fiber they act on the simulated machine, outside on the real one.
#ifndef WEIR_TESTS_SIM_WRAP_H
#define WEIR_TESTS_SIM_WRAP_H

#include "app/control.h"
#include "kafka/client.h"
#include "kafka/committer.h"
#include "operators/aggregate.h"
#include "rocksdb_backend/store.h"
#include "runtime/recovery.h"
#include "runtime/state_ttl.h"
#include "runtime/store.h"

#include <dirent.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

// name(result, name, (parameters)): the call as it was, and what takes its place.
#define SIM_WRAPPED(X)                                                                             \
    X(int, pthread_create,                                                                         \
      (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *),                 \
       void *argument))                                                                            \
    X(int, pthread_join, (pthread_t thread, void **result))                                        \
    X(int, pthread_setname_np, (pthread_t thread, const char *name))                               \
    X(int, pthread_mutex_lock, (pthread_mutex_t * mutex))                                          \
    X(int, pthread_mutex_unlock, (pthread_mutex_t * mutex))                                        \
    X(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t * mutex))               \
    X(int, pthread_cond_signal, (pthread_cond_t * condition))                                      \
    X(int, nanosleep, (const struct timespec *duration, struct timespec *rest))                    \
    X(int, clock_gettime, (clockid_t id, struct timespec * now))                                   \
    X(int, gettimeofday, (struct timeval * now, void *zone))                                       \
    X(ssize_t, getrandom, (void *bytes, size_t size_bytes, unsigned flags))                        \
    X(int, eventfd, (unsigned count, int flags))                                                   \
    X(int, poll, (struct pollfd * descriptors, nfds_t count, int timeout_ms))                      \
    X(ssize_t, read, (int descriptor, void *bytes, size_t size_bytes))                             \
    X(ssize_t, write, (int descriptor, const void *bytes, size_t size_bytes))                      \
    X(int, close, (int descriptor))                                                                \
    X(int, fsync, (int descriptor))                                                                \
    X(int, rename, (const char *from, const char *to))                                             \
    X(int, link, (const char *from, const char *to))                                               \
    X(int, unlink, (const char *path))                                                             \
    X(int, unlinkat, (int folder, const char *name, int flags))                                    \
    X(int, remove, (const char *path))                                                             \
    X(int, access, (const char *path, int mode))                                                   \
    X(int, mkdir, (const char *path, mode_t mode))                                                 \
    X(int, stat, (const char *path, struct stat *info))                                            \
    X(int, fstatat, (int folder, const char *name, struct stat *info, int flags))                  \
    X(DIR *, opendir, (const char *path))                                                          \
    X(struct dirent *, readdir, (DIR * folder))                                                    \
    X(int, closedir, (DIR * folder))                                                               \
    X(int, dirfd, (DIR * folder))                                                                  \
    X(int, nftw, (const char *path, __nftw_func_t visit, int depth, int flags))                    \
    X(int, flock, (int descriptor, int operation))                                                 \
    X(void, _exit, (int exit_code))                                                                \
    X(void, weir_signals_init, (void))                                                             \
    X(void, weir_signals_set_ended, (void))                                                        \
    X(void, weir_signals_wake, (int descriptor))                                                   \
    X(void, weir_control_init, (struct weir_control * control))                                    \
    X(void, weir_control_deinit, (struct weir_control * control))                                  \
    X(bool, weir_failpoint_hit, (const char *name))                                                \
    X(enum weir_status, weir_rdkafka_create,                                                       \
      (const struct weir_kafka_config *config, struct weir_kafka **kafka,                          \
       struct weir_error *error))                                                                  \
    X(enum weir_status, weir_claim,                                                                \
      (struct weir_committer_config * config, const struct weir_manifest *manifest,                \
       struct weir_error *error))                                                                  \
    X(void, weir_manifest_encode, (const struct weir_manifest *manifest, struct weir_buffer *out)) \
    X(bool, weir_restore_is_due, (const char *restore, const struct weir_manifest *pointed))       \
    X(enum weir_status, weir_recovery_decide,                                                      \
      (const struct weir_found *found, struct weir_recovery *recovery,                             \
       struct weir_partition_decision *decisions, struct weir_error *error))                       \
    X(void, weir_retention_select,                                                                 \
      (const struct weir_store_entry *entries, uint32_t entry_count, int64_t number,               \
       const struct weir_attempt *attempt, uint32_t retained, int64_t now_ms, int64_t young_ms,    \
       bool at_start, bool *is_deleted))                                                           \
    X(enum weir_status, weir_folder_remake, (const char *path, struct weir_error *error))          \
    X(enum weir_status, weir_file_link,                                                            \
      (const char *from_folder, const char *from_name, const char *to_folder, const char *to_name, \
       bool is_copied, struct weir_error *error))                                                  \
    X(enum weir_status, weir_rocksdb_store_create,                                                 \
      (const struct weir_rocksdb_store_config *config, struct weir_state_store **store,            \
       struct weir_error *error))                                                                  \
    X(void, weir_state_ttl_sweep,                                                                  \
      (struct weir_state_ttl * ttl, int64_t watermark_us, uint32_t count_max,                      \
       void (*forget)(void *context, const struct weir_state_key *key), void *context))            \
    X(struct weir_state_ttl *, weir_state_ttl_create,                                              \
      (const struct weir_state_ttl_config *config))                                                \
    X(struct weir_operator *, weir_normalize_create,                                               \
      (const char *id, const char *name, const struct weir_normalize_config *config))

#define SIM_DECLARE(result, name, parameters)                                                      \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;
SIM_WRAPPED(SIM_DECLARE)
#undef SIM_DECLARE

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

#endif
