// SPDX-License-Identifier: Apache-2.0
// docs/openapi.json held against what the server answers. Failures end the running test. Thread:
// the tests'.
#ifndef WEIR_TESTS_INTEGRATION_OPENAPI_UTIL_H
#define WEIR_TESTS_INTEGRATION_OPENAPI_UTIL_H

#include <jansson.h>

json_t *openapi_load(void); // the whole description; for json_decref()

// The answer's status is among those described for the path, and its body is what the schema says:
// no member is missing, none is there that is not described.
void openapi_check(const json_t *description, const char *path, const char *method, int status,
                   const char *body);

#endif
