#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rude clients of an HTTP server: malformed request lines, headers without end, half requests
that are never finished, pipelines, wrong tokens, bodies that are no JSON, paths that climb,
random bytes.

    http_fuzz.py --port N --seed S --seconds T [--token TOKEN] [--per-second R] [--connections N]

The server may be killed and come back meanwhile. Of what it answers each status line must be one of
HTTP's, nothing may be changed without the token, and nothing may be a fault of the server's own
(5xx but 501, 503, 505). Prints the first answers that are wrong, with the seed, and in the end what
was sent and answered as one line of JSON; ends with 1 if an answer was wrong. SIGTERM ends it in the
same way before its time."""
import argparse
import collections
import json
import random
import re
import select
import signal
import socket
import sys
import time

PATHS = ["/", "/livez", "/readyz", "/metrics", "/api/v1/job", "/api/v1/graph",
         "/api/v1/checkpoints", "/api/v1/config", "/api/v1/savepoints", "/api/v1/stop",
         "/api/v1/pause", "/api/v1/resume"]
CHANGING = ["/api/v1/checkpoints", "/api/v1/savepoints", "/api/v1/stop", "/api/v1/pause",
            "/api/v1/resume"]
CLIMBING = ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/shadow", "//livez",
            "/api/v1/../../livez", "/livez/../../../proc/self/environ", "/livez%00.html",
            "/api/v1/job;/../..", "/\\..\\..\\windows", "/./metrics", "*", "http://x/livez"]
BODIES = [b"{", b"[]", b"null", b"{\"drain\":1}", b"{\"drian\":true}", b"{\"path\":\"\"}",
          b"{\"path\":7}", b"{\"table\":7}", b"{\"partition\":-1}", b"{\"partition\":1e400}",
          b"{\"path\":\"a\\u0000b\"}", b"{\"table\":\"a\\u0000b\"}", b"\xff\xfe\x00",
          b"[" * 5000, b"{\"a\":" * 3000, b"\"" + b"x" * 60000]
# Of whoever has the token: nothing of it stops the job.
ALLOWED = [("/api/v1/checkpoints", b""), ("/api/v1/checkpoints?wait=false", b"{}"),
           ("/api/v1/checkpoints?wait=perhaps", b"{}"),
           ("/api/v1/pause", b"{\"table\":\"input\",\"partition\":1}"),
           ("/api/v1/resume", b"{}"), ("/api/v1/resume", b"{\"table\":\"input\"}"),
           ("/api/v1/pause", b"{\"table\":\"nobody\"}"),
           ("/api/v1/savepoints", b"{\"path\":\"relative\"}"),
           ("/api/v1/savepoints", b"{\"path\":\"/proc/nothing/here\"}"),
           ("/api/v1/savepoints", b"{\"path\":\"/dev/null\"}")]

WRONG_PRINTED_MAX = 20


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.sent = collections.Counter()
        self.answers = collections.Counter()
        self.held = []  # connections with half a request
        self.is_over = False
        self.wrong_count = 0

    def dial(self):
        try:
            peer = socket.create_connection(("127.0.0.1", self.options.port), timeout=2)
        except OSError:
            self.answers["no connection"] += 1
            return None
        peer.settimeout(2)
        return peer

    def noise(self, size):
        return self.random.randbytes(size)

    def line(self, method=None, path=None):
        method = method or self.random.choice(["GET", "POST", "HEAD", "PUT", "DELETE", "BREW"])
        path = path or self.random.choice(PATHS)
        return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n".encode()

    def post(self, path, body, token):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        if token is not None:
            head += f"Authorization: Bearer {token}\r\n"
        return head.encode() + b"\r\n" + body

    # --- what is sent; the answer to a change that nobody may make is given back too -------------

    def malformed(self):
        lines = [b"GET\r\n\r\n", b"\r\n" * 50, b"GET / HTTP/9.9\r\n\r\n", b" / HTTP/1.1\r\n\r\n",
                 b"GET  /livez  HTTP/1.1\r\n\r\n", b"GET /livez\r\n\r\n",
                 b"GET /livez HTTP/1.0\r\n\r\n",
                 b"GET /" + b"a" * self.random.choice([10, 4000, 20000]) + b" HTTP/1.1\r\n\r\n",
                 b"GET /livez HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                 b"GET /livez HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
                 b"POST /api/v1/stop HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
                 b"POST /api/v1/stop HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
                 b"Content-Length: 3\r\n\r\n1\r\n{\r\n0\r\n\r\n",
                 b"GET /livez HTTP/1.1\r\n: \r\n\r\n", b"GET /livez HTTP/1.1\nHost: x\n\n",
                 b"GET /livez HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
                 b"GET /livez?wait=%zz&&&=&%00 HTTP/1.1\r\nHost: a\r\n\r\n",
                 b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + self.noise(200)]
        return self.random.choice(lines)

    def huge_headers(self):
        name = b"X-" + b"h" * self.random.choice([1, 500])
        value = b"v" * self.random.choice([10, 1000, 20000])
        header = name + b": " + value + b"\r\n"
        return self.line("GET") + header * self.random.choice([1, 50]) + b"\r\n"

    def pipelined(self):
        return b"".join(self.line("GET") + b"\r\n" for _ in range(self.random.choice([2, 10, 100])))

    def wrong_token(self):
        token = self.options.token
        token = self.random.choice([None, "", "x", token[:-1], token + "t", token.upper(),
                                    "\x00" + token, "a" * 4000])
        return self.post(self.random.choice(CHANGING), b"{}", token)

    def bad_body(self):
        return self.post(self.random.choice(CHANGING), self.random.choice(BODIES),
                         self.options.token)

    def endless_body(self):
        head = b"POST /api/v1/checkpoints HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
        head += self.options.token.encode() + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
        return head + (b"1000\r\n" + b"x" * 0x1000 + b"\r\n") * 21

    def allowed(self):
        path, body = self.random.choice(ALLOWED)
        return self.post(path, body, self.options.token)

    def climbing(self):
        return self.line("GET", self.random.choice(CLIMBING)) + b"\r\n"

    def random_bytes(self):
        return self.noise(self.random.choice([1, 10, 300, 9000]))

    def mutated(self):
        text = bytearray(self.random.choice([self.allowed, self.climbing, self.pipelined])())
        for _ in range(self.random.randint(1, 8)):
            at = self.random.randrange(len(text))
            choice = self.random.randrange(3)
            if choice == 0:
                text[at] = self.random.randrange(256)
            elif choice == 1:
                del text[at:at + self.random.randint(1, 20)]
            else:
                text[at:at] = self.noise(self.random.randint(1, 20))
            if not text:
                return b"\r\n"
        # A change of one byte must not make a stop of it, nor a folder somewhere.
        is_safe = b"/stop" not in text and b"savepoint" not in text
        return bytes(text) if is_safe else b"GET / HTTP/1.1\r\n\r\n"

    # --- turns ------------------------------------------------------------------------------------

    def hold(self):
        """Half a request on a connection that stays: now and then it says a byte more."""
        peer = self.dial()
        if peer is None:
            return
        peer.setblocking(False)
        try:
            peer.send(self.random.choice([b"", b"G", b"GET /met", self.line("GET") + b"X-Slow: "]))
            self.held.append(peer)
        except OSError:
            peer.close()
        if len(self.held) > self.options.connections:
            self.held.pop(self.random.randrange(len(self.held))).close()

    def trickle(self):
        for peer in self.random.sample(self.held, min(20, len(self.held))):
            try:
                peer.send(b"x")
            except OSError:
                self.held.remove(peer)
                peer.close()

    def exchange(self, kind):
        request = getattr(self, kind)()
        peer = self.dial()
        if peer is None:
            time.sleep(0.05)
            return
        answer = b""
        try:
            peer.sendall(request)
            how = self.random.randrange(4)
            if how == 0:
                peer.shutdown(socket.SHUT_WR)
            if how == 1:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset
            else:
                while len(answer) < 1 << 20 and select.select([peer], [], [], 0.2)[0]:
                    piece = peer.recv(65536)
                    if not piece:
                        break
                    answer += piece
        except OSError:
            self.answers["broken off"] += 1
        peer.close()
        self.judge(kind, request, answer)

    def judge(self, kind, request, answer):
        if not answer:
            self.answers["nothing"] += 1
            return
        status = re.match(rb"HTTP/1\.[01] ([1-5]\d\d) ", answer)
        code = int(status.group(1)) if status else 0
        self.answers[str(code)] += 1
        refusals = (400, 401, 413, 414, 431, 503)
        is_wrong = code == 0 or (code >= 500 and code not in (501, 503, 505))
        is_wrong = is_wrong or (kind == "wrong_token" and code not in refusals)
        is_wrong = is_wrong or (kind == "climbing" and b"root:" in answer)
        if is_wrong:
            self.wrong_count += 1
        if is_wrong and self.wrong_count <= WRONG_PRINTED_MAX:
            print(f"http_fuzz: seed {self.options.seed}: {kind}: {request[:300]!r} was answered "
                  f"{answer[:300]!r}", flush=True)

    def run(self):
        kinds = ["malformed", "huge_headers", "pipelined", "wrong_token", "bad_body",
                 "endless_body", "allowed", "climbing", "random_bytes", "mutated"]
        begin = time.monotonic()
        count = 0
        while not self.is_over and time.monotonic() - begin < self.options.seconds:
            kind = self.random.choice(kinds + ["hold", "hold"])
            self.sent[kind] += 1
            if kind == "hold":
                self.hold()
            else:
                self.exchange(kind)
            if count % 20 == 0:
                self.trickle()
            count += 1
            ahead = count / self.options.per_second - (time.monotonic() - begin)
            if ahead > 0:
                time.sleep(min(ahead, 0.5))
        for peer in self.held:
            peer.close()
        figures = {"seed": self.options.seed, "sent": self.sent, "answers": self.answers}
        print(json.dumps(figures), flush=True)
        return 1 if self.wrong_count > 0 else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--token", default="s3cret")
    parser.add_argument("--per-second", type=float, default=200)
    parser.add_argument("--connections", type=int, default=100,
                        help="that stay, with half a request")
    fuzzer = Fuzzer(parser.parse_args())

    def stop(*_):
        fuzzer.is_over = True

    signal.signal(signal.SIGTERM, stop)
    print("http_fuzz begins", flush=True)
    sys.exit(fuzzer.run())


if __name__ == "__main__":
    main()
