// SPDX-License-Identifier: Apache-2.0
// See aligner.h.
#include "runtime/aligner.h"

#include <stdlib.h>

struct weir_aligner {
    uint32_t channel_count;
    uint32_t ended_count;
    uint32_t received_count; // barriers of the alignment under way
    bool is_aligning;
    struct weir_barrier barrier;
    int64_t began_ms;
    int64_t duration_ms;
    int64_t cancelled_number; // a barrier of it that comes late is passed over
    bool *is_ended;
    bool *is_blocked;
};

struct weir_aligner *weir_aligner_create(uint32_t channel_count)
{
    WEIR_ASSERT(channel_count > 0);
    struct weir_aligner *aligner = weir_alloc_zero(sizeof *aligner);
    aligner->channel_count = channel_count;
    aligner->cancelled_number = -1;
    aligner->is_ended = weir_alloc_zero(channel_count * sizeof *aligner->is_ended);
    aligner->is_blocked = weir_alloc_zero(channel_count * sizeof *aligner->is_blocked);
    return aligner;
}

void weir_aligner_destroy(struct weir_aligner *aligner)
{
    if (aligner != NULL) {
        free(aligner->is_ended);
        free(aligner->is_blocked);
        free(aligner);
    }
}

bool weir_aligner_is_blocked(const struct weir_aligner *aligner, uint32_t channel_idx)
{
    return aligner->is_blocked[channel_idx];
}

bool weir_aligner_is_aligning(const struct weir_aligner *aligner)
{
    return aligner->is_aligning;
}

uint32_t weir_aligner_received_count(const struct weir_aligner *aligner)
{
    return aligner->received_count;
}

static void free_channels(struct weir_aligner *aligner)
{
    memset(aligner->is_blocked, 0, aligner->channel_count * sizeof *aligner->is_blocked);
    aligner->is_aligning = false;
    aligner->received_count = 0;
}

static enum weir_alignment pass_if_complete(struct weir_aligner *aligner, int64_t now_ms)
{
    if (!aligner->is_aligning ||
        aligner->received_count + aligner->ended_count < aligner->channel_count) {
        return WEIR_ALIGNMENT_NONE;
    }
    aligner->duration_ms = now_ms - aligner->began_ms;
    free_channels(aligner);
    return WEIR_ALIGNMENT_PASS;
}

enum weir_alignment weir_aligner_on_barrier(struct weir_aligner *aligner, uint32_t channel_idx,
                                            const struct weir_barrier *barrier, int64_t now_ms)
{
    WEIR_ASSERT(!aligner->is_blocked[channel_idx] && !aligner->is_ended[channel_idx]);
    if (barrier->number <= aligner->cancelled_number) {
        return WEIR_ALIGNMENT_NONE;
    }
    WEIR_ASSERT(!aligner->is_aligning || barrier->number == aligner->barrier.number);
    if (!aligner->is_aligning) {
        aligner->is_aligning = true;
        aligner->barrier = *barrier;
        aligner->began_ms = now_ms;
    }
    aligner->is_blocked[channel_idx] = true;
    aligner->received_count++;
    return pass_if_complete(aligner, now_ms);
}

enum weir_alignment weir_aligner_on_end(struct weir_aligner *aligner, uint32_t channel_idx,
                                        int64_t now_ms)
{
    WEIR_ASSERT(!aligner->is_blocked[channel_idx] && !aligner->is_ended[channel_idx]);
    aligner->is_ended[channel_idx] = true;
    aligner->ended_count++;
    return pass_if_complete(aligner, now_ms);
}

void weir_aligner_on_cancel(struct weir_aligner *aligner, int64_t number)
{
    if (number > aligner->cancelled_number) {
        aligner->cancelled_number = number;
    }
    if (aligner->is_aligning && aligner->barrier.number <= number) {
        free_channels(aligner);
    }
}

const struct weir_barrier *weir_aligner_barrier(const struct weir_aligner *aligner)
{
    return &aligner->barrier;
}

int64_t weir_aligner_duration_ms(const struct weir_aligner *aligner)
{
    return aligner->duration_ms;
}
