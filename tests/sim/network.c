// SPDX-License-Identifier: Apache-2.0
// See network.h. What is on its way is a list of events, each with its time.
#include "tests/sim/network.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/fiber.h"
#include "tests/sim/random.h"

enum {
    WAY_US_MIN = 50,
    WAY_US_MAX = 5000,
    SLOW_ONE_IN = 50,
    SLOW_WAY_US_MAX = 200000,
    SOON_US_MAX = 2000000,
    LATE_US_MAX = 20000000,
    BREAK_US_MAX = 30000, // until a break is noticed
};

struct message {
    struct sim_request request;
    bool is_answered;
};

struct event {
    int64_t due_us;
    struct message *message;
    bool is_answer;
    bool is_answer_lost;
};

static struct event *events;
static uint32_t event_count;
static uint32_t fault_one_in;
static uint32_t late_one_in;
static uint32_t break_one_in;
static int held_api = -1;    // is waited for
static struct message *held; // is kept

void sim_network_set_faults(uint32_t one_in)
{
    fault_one_in = one_in;
}

void sim_network_set_late(uint32_t one_in)
{
    late_one_in = one_in;
}

void sim_network_set_breaks(uint32_t one_in)
{
    break_one_in = one_in;
}

uint32_t sim_network_faults(void)
{
    return fault_one_in;
}

static int64_t way_us(void)
{
    return sim_one_in(SLOW_ONE_IN) ? sim_spread(WAY_US_MAX, SLOW_WAY_US_MAX)
                                   : sim_spread(WAY_US_MIN, WAY_US_MAX);
}

static void post(const struct event *event)
{
    events = weir_realloc(events, (event_count + 1) * sizeof *events);
    events[event_count++] = *event;
    sim_signal(&event_count);
}

void sim_network_hold(enum sim_api api)
{
    held_api = (int)api;
}

void sim_network_release(void)
{
    post(&(struct event){.due_us = sim_now_us(), .message = held, .is_answer_lost = true});
}

static uint32_t find_next(void)
{
    uint32_t next = 0;
    for (uint32_t i = 1; i < event_count; i++) {
        next = events[i].due_us < events[next].due_us ? i : next;
    }
    return next;
}

static void arrive(const struct event *event)
{
    struct message *message = event->message;
    if (event->is_answer) {
        message->is_answered = true;
        sim_signal(message);
        return;
    }
    sim_broker_handle(&message->request);
    sim_trace("broker: %s %s/%d of %s epoch %d%s: %s", sim_api_name(message->request.api),
              message->request.topic, message->request.partition, message->request.id,
              message->request.epoch, event->is_answer_lost ? " (nobody waits)" : "",
              sim_code_name(message->request.code));
    if (!event->is_answer_lost) {
        post(&(struct event){
            .due_us = sim_now_us() + way_us(), .message = message, .is_answer = true});
    }
}

static void *run(void *unused)
{
    for (;;) {
        if (event_count == 0) {
            sim_wait(&event_count, -1);
            continue;
        }
        uint32_t next = find_next();
        int64_t wait_us = events[next].due_us - sim_now_us();
        if (wait_us > 0) {
            sim_wait(&event_count, wait_us);
            continue;
        }
        struct event event = events[next];
        events[next] = events[--event_count];
        arrive(&event);
    }
    return unused;
}

void sim_network_start(void)
{
    sim_fiber_create(NULL, "network", 0, run, NULL);
}

static int64_t late_us(int64_t timeout_us)
{
    return sim_now_us() + timeout_us +
           (sim_one_in(2) ? (int64_t)sim_below(SOON_US_MAX) : sim_spread(1, LATE_US_MAX));
}

static bool is_for_coordinator(enum sim_api api)
{
    return api == SIM_INIT_PRODUCER_ID || api == SIM_TXN_OFFSET_COMMIT || api == SIM_END_TXN;
}

static void send(struct message *message, int64_t timeout_us)
{
    struct event event = {.due_us = sim_now_us() + way_us(), .message = message};
    if ((int)message->request.api == held_api) {
        held_api = -1;
        held = message;
        return;
    }
    if (late_one_in != 0 && is_for_coordinator(message->request.api) && sim_one_in(late_one_in)) {
        event.is_answer_lost = true;
        event.due_us = sim_one_in(3) ? event.due_us : late_us(timeout_us);
    } else if (fault_one_in != 0 && sim_one_in(fault_one_in)) {
        event.is_answer_lost = true;
        switch (sim_below(3)) {
        case 0:
            return; // lost
        case 1:
            event.due_us = late_us(timeout_us);
            break;
        default:
            break;
        }
    }
    post(&event);
}

bool sim_network_ask(struct sim_request *request, int64_t timeout_us)
{
    struct message *message = weir_alloc_zero(sizeof *message);
    message->request = *request;
    sim_point("send");
    if (break_one_in != 0 && request->api == SIM_END_TXN && sim_one_in(break_one_in)) {
        post(&(struct event){
            .due_us = sim_now_us() + way_us(), .message = message, .is_answer_lost = true});
        sim_sleep_us(sim_below(BREAK_US_MAX));
        return false;
    }
    send(message, timeout_us);
    // A connection that breaks is noticed before the time-out.
    int64_t deadline_us =
        sim_now_us() +
        (fault_one_in != 0 && sim_one_in(8) ? sim_spread(1000, timeout_us) : timeout_us);
    while (!message->is_answered && sim_now_us() < deadline_us) {
        sim_wait(message, deadline_us - sim_now_us());
    }
    sim_point("answered");
    if (message->is_answered) {
        *request = message->request;
        return true;
    }
    return false;
}

bool sim_network_question(int64_t timeout_us)
{
    sim_point("question");
    if (fault_one_in != 0 && sim_one_in(fault_one_in)) {
        sim_sleep_us(sim_spread(1000, timeout_us));
        return false;
    }
    sim_sleep_us(2 * way_us());
    sim_point("told");
    return true;
}
