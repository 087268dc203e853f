// SPDX-License-Identifier: Apache-2.0
// The bytes of the questions, and answers: whole, cut at every byte, without what was asked for.
#include "kafka/transaction_wire.h"

#include "tests/unit/cmocka_all.h"

#include <stdlib.h>

#define BYTES(text) ((struct weir_view){.data = (text), .size_bytes = sizeof(text) - 1})

// Producer 7 has begun at offset 300, producer 9 at 258.
#define PRODUCERS                                                                                  \
    "\0\0\0\0"                                                                                     \
    "\0"                                                                                           \
    "\0\0\0\0"                                                                                     \
    "\2"                                                                                           \
    "\3in"                                                                                         \
    "\2"                                                                                           \
    "\0\0\0\1"                                                                                     \
    "\0\0"                                                                                         \
    "\0"                                                                                           \
    "\3"                                                                                           \
    "\0\0\0\0\0\0\0\7"                                                                             \
    "\0\0\0\2"                                                                                     \
    "\0\0\0\3"                                                                                     \
    "\0\0\0\0\0\0\0\4"                                                                             \
    "\0\0\0\5"                                                                                     \
    "\0\0\0\0\0\0\1\54"                                                                            \
    "\1\5\2xy"                                                                                     \
    "\0\0\0\0\0\0\0\11"                                                                            \
    "\0\0\0\0"                                                                                     \
    "\377\377\377\377"                                                                             \
    "\0\0\0\0\0\0\0\4"                                                                             \
    "\0\0\0\5"                                                                                     \
    "\0\0\0\0\0\0\1\2"                                                                             \
    "\0"                                                                                           \
    "\0"                                                                                           \
    "\0"                                                                                           \
    "\0"

#define TRANSACTIONS                                                                               \
    "\0\0\0\0"                                                                                     \
    "\0"                                                                                           \
    "\0\0\0\0"                                                                                     \
    "\0\0"                                                                                         \
    "\1"                                                                                           \
    "\3"                                                                                           \
    "\6other"                                                                                      \
    "\0\0\0\0\0\0\0\7"                                                                             \
    "\10Ongoing"                                                                                   \
    "\0"                                                                                           \
    "\11somebody"                                                                                  \
    "\0\0\0\0\0\0\0\11"                                                                            \
    "\10Ongoing"                                                                                   \
    "\0"                                                                                           \
    "\0"

static void expect_bytes(struct weir_buffer *buffer, struct weir_view expected)
{
    assert_int_equal(buffer->size_bytes, expected.size_bytes);
    assert_memory_equal(buffer->data, expected.data, expected.size_bytes);
    weir_buffer_deinit(buffer);
}

static void test_questions_are_as_kafka_writes_them(void **state)
{
    (void)state;
    struct weir_buffer buffer = {0};
    weir_wire_ask_producers(&buffer,
                            &(struct weir_topic_partition){.topic = "in", .partition = 258});
    expect_bytes(&buffer, BYTES("\0\75\0\0\0\0\0\0\0\4weir\0"
                                "\2\3in\2\0\0\1\2\0\0"));
    weir_wire_ask_transactions(&buffer, 9);
    expect_bytes(&buffer, BYTES("\0\102\0\0\0\0\0\0\0\4weir\0"
                                "\1\2\0\0\0\0\0\0\0\11\0"));
    char topic[201] = "";
    memset(topic, 't', 200); // a length of two bytes
    weir_wire_ask_producers(&buffer, &(struct weir_topic_partition){.topic = topic});
    assert_memory_equal(buffer.data + 15, "\2\311\1ttt", 6);
    weir_buffer_deinit(&buffer);
}

// A copy of its own size, so that reading beyond it is found.
static struct weir_view copy_of(struct weir_view view, size_t size_bytes)
{
    char *copy = malloc(size_bytes + 1);
    memcpy(copy, view.data, size_bytes);
    return (struct weir_view){.data = realloc(copy, size_bytes > 0 ? size_bytes : 1),
                              .size_bytes = size_bytes};
}

static void test_producer_is_found_by_its_offset(void **state)
{
    (void)state;
    const struct weir_view answer = BYTES(PRODUCERS);
    int64_t id = -1;
    assert_true(weir_wire_read_producers(answer, 258, &id));
    assert_int_equal(id, 9);
    assert_true(weir_wire_read_producers(answer, 300, &id));
    assert_int_equal(id, 7);
    assert_false(weir_wire_read_producers(answer, 301, &id));
    for (size_t size = 0; size < answer.size_bytes; size++) {
        struct weir_view cut = copy_of(answer, size);
        assert_false(weir_wire_read_producers(cut, 258, &id));
        free((void *)(uintptr_t)cut.data);
    }
}

static void test_transactional_id_is_found_by_its_producer(void **state)
{
    (void)state;
    const struct weir_view answer = BYTES(TRANSACTIONS);
    char id[16];
    assert_true(weir_wire_read_transactions(answer, 9, id, sizeof id));
    assert_string_equal(id, "somebody");
    assert_true(weir_wire_read_transactions(answer, 9, id, 4));
    assert_string_equal(id, "som");
    assert_false(weir_wire_read_transactions(answer, 8, id, sizeof id));
    for (size_t size = 0; size < answer.size_bytes; size++) {
        struct weir_view cut = copy_of(answer, size);
        assert_false(weir_wire_read_transactions(cut, 9, id, sizeof id));
        free((void *)(uintptr_t)cut.data);
    }
}

// Lengths that claim more than there is end at once.
static void test_answers_that_lie_end(void **state)
{
    (void)state;
    int64_t number;
    char id[16];
    static const char lies[] = "\0\0\0\0"
                               "\0"
                               "\0\0\0\0"
                               "\377\377\377\377\377\377\377\377\377\1";
    assert_false(weir_wire_read_producers(BYTES(lies), 0, &number));
    assert_false(weir_wire_read_transactions(BYTES(lies), 0, id, sizeof id));
    static const char endless[] = "\0\0\0\0"
                                  "\377\377\377\377\377\377\377\377\377\377\377\377";
    assert_false(weir_wire_read_producers(BYTES(endless), 0, &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_questions_are_as_kafka_writes_them),
        cmocka_unit_test(test_producer_is_found_by_its_offset),
        cmocka_unit_test(test_transactional_id_is_found_by_its_producer),
        cmocka_unit_test(test_answers_that_lie_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
