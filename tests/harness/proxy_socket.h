// SPDX-License-Identifier: Apache-2.0
// Whole frames of Kafka's protocol over a socket: four bytes of length, then so many bytes.
// All calls block; a shutdown() of the socket by another thread ends them.
#ifndef WEIR_TESTS_HARNESS_PROXY_SOCKET_H
#define WEIR_TESTS_HARNESS_PROXY_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_test_frame {
    uint8_t *bytes; // the length first, as on the wire; free() when done
    size_t count;   // with the length
    size_t capacity;
};

// Reads the next frame into the buffer, which grows as needed. False: the peer has gone, or does
// not speak Kafka's protocol.
bool weir_test_frame_receive(int fd, struct weir_test_frame *frame);

// False: the peer has gone.
bool weir_test_frame_send_bytes(int fd, const uint8_t *bytes, size_t count);

// A connection to a port of 127.0.0.1, or -1.
int weir_test_frame_dial(int port);

#endif
