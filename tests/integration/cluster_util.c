// SPDX-License-Identifier: Apache-2.0
// See cluster_util.h.
#include "tests/integration/cluster_util.h"

#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <time.h>

struct weir_test_cluster *cluster;

int cluster_start(void **state)
{
    (void)state;
    cluster = weir_test_cluster_start(NULL);
    return 0;
}

int cluster_stop(void **state)
{
    (void)state;
    weir_test_cluster_destroy(cluster);
    return 0;
}

int cluster_start_seeded(void **state)
{
    choose_seed();
    return cluster_start(state);
}

void choose_seed(void)
{
    const char *given = getenv("WEIR_TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    srand(seed);
    print_message("seed %u\n", seed);
}

int number_from(const char *variable, int default_number)
{
    const char *text = getenv(variable);
    return text != NULL && text[0] != '\0' ? atoi(text) : default_number;
}
