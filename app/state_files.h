// SPDX-License-Identifier: Apache-2.0
// The files of keyed state, for the janitor: what joins kafka/ with rocksdb_backend/ here.
#ifndef WEIR_APP_STATE_FILES_H
#define WEIR_APP_STATE_FILES_H

#include "kafka/janitor.h"

extern const struct weir_state_files weir_rocksdb_files;

#endif
