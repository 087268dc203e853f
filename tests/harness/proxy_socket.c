// SPDX-License-Identifier: Apache-2.0
// Frames over sockets: see the header.
#include "tests/harness/proxy_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/base.h"

enum { FRAME_BYTES_MAX = 256 << 20 };

static bool read_all(int fd, uint8_t *bytes, size_t count)
{
    while (count > 0) {
        ssize_t got = recv(fd, bytes, count, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        bytes += got;
        count -= (size_t)got;
    }
    return true;
}

bool weir_test_frame_send_bytes(int fd, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        ssize_t put = send(fd, bytes, count, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        bytes += put;
        count -= (size_t)put;
    }
    return true;
}

bool weir_test_frame_receive(int fd, struct weir_test_frame *frame)
{
    if (frame->capacity < 4) {
        frame->capacity = 4096;
        frame->bytes = weir_test_realloc(frame->bytes, frame->capacity);
    }
    if (!read_all(fd, frame->bytes, 4)) {
        return false;
    }
    const uint8_t *b = frame->bytes;
    size_t body = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
    if (body > FRAME_BYTES_MAX) {
        return false; // not Kafka's protocol
    }
    frame->count = body + 4;
    if (frame->count > frame->capacity) {
        frame->capacity = frame->count;
        frame->bytes = weir_test_realloc(frame->bytes, frame->capacity);
    }
    return read_all(fd, frame->bytes + 4, body);
}

int weir_test_frame_dial(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        fd = -1;
    }
    int on = 1;
    if (fd >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    return fd;
}
