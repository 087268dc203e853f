#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a schema registry, for tests: the few requests of Confluent's API that weir makes, with
a store that is a file, so that it can be stopped, started again, and looked into. It is not a registry:
compatibility is not computed; a subject whose name holds "frozen" takes no new schema, one with
"jsonschema", and id 900, have one that is not Avro's.

  registry_standin.py PORT STORE [--path /base] [--user name:password] [--token TEXT] [--tls FOLDER]
                      [--fail COUNT:STATUS,…] [--slow SECONDS] [--young SECONDS] [--html]

STORE: {"schemas": [text of id 1, text of id 2, …], "subjects": {name: [id, …]}}, made if missing.
--fail: that many requests are answered with that status first, then so many with the next; status 0 is
no answer at all. --slow: each answer takes so long. --html: who may not ask is told so by a page.
--young: for so long it answers as if its store were empty, as one that still reads what it has kept.
--tls: https with the folder's server.pem, for clients with a certificate of its ca.pem.
"""
import argparse
import base64
import http.server
import json
import os
import ssl
import sys
import time
import urllib.parse


SILENCE_S = 60


class Store:
    def __init__(self, path):
        self.path = path
        self.began = time.monotonic()
        self.data = {"schemas": [], "subjects": {}}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.data = json.load(file)

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.data, file)
        os.replace(self.path + ".new", self.path)

    def register(self, subject, text):
        schemas = self.data["schemas"]
        if text not in schemas:
            schemas.append(text)
        number = schemas.index(text) + 1
        versions = self.data["subjects"].setdefault(subject, [])
        if number not in versions:
            versions.append(number)
        self.save()
        return number


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = options = None

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        print(format % args, flush=True)

    def answer(self, status, body):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def parts(self):
        """The path behind the base, in pieces; None: answered already."""
        time.sleep(self.options.slow)
        if self.options.fail:
            status = self.options.fail.pop(0)
            if status == 0:
                time.sleep(SILENCE_S)
                self.close_connection = True
            else:
                self.answer(status, {"message": "told to fail"})
            return None
        if self.options.user or self.options.token:
            wanted = ("Bearer " + self.options.token if self.options.token else
                      "Basic " + base64.b64encode(self.options.user.encode()).decode())
            if self.headers.get("Authorization") != wanted:
                self.answer(401, "<html><h1>Unauthorized</h1></html>" if self.options.html else
                            {"error_code": 401, "message": "Unauthorized"})
                return None
        if not self.path.startswith(self.options.path + "/"):
            self.answer(404, {"message": "not the base path"})
            return None
        return [urllib.parse.unquote(part)
                for part in self.path[len(self.options.path) + 1:].split("/")]

    def do_GET(self):
        is_young = time.monotonic() - self.store.began < self.options.young
        data = {"schemas": [], "subjects": {}} if is_young else self.store.data
        parts = self.parts()
        if parts is None:
            return
        if parts[:2] == ["schemas", "ids"]:
            number = int(parts[2])
            if number == 900:
                self.answer(200, {"subject": "jsonschema", "schemaType": "JSON", "schema": "{}"})
            elif 1 <= number <= len(data["schemas"]):
                self.answer(200, {"schema": data["schemas"][number - 1]})
            else:
                self.answer(404, {"error_code": 40403, "message": "Schema not found"})
        elif len(parts) == 4 and parts[0] == "subjects" and "jsonschema" in parts[1]:
            self.answer(200, {"subject": parts[1], "version": 1, "id": 900, "schemaType": "JSON",
                              "schema": "{\"type\":\"object\"}"})
        elif len(parts) == 4 and parts[0] == "subjects" and parts[2] == "versions":
            versions = data["subjects"].get(parts[1], [])
            if not versions:
                self.answer(404, {"error_code": 40401, "message": "Subject not found"})
                return
            version = len(versions) if parts[3] == "latest" else int(parts[3])
            number = versions[version - 1]
            self.answer(200, {"subject": parts[1], "version": version, "id": number,
                              "schema": data["schemas"][number - 1]})
        else:
            self.answer(404, {"message": "no such page"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parts = self.parts()
        if parts is None:
            return
        if "frozen" in parts[1]:
            self.answer(409, {"error_code": 409, "message": "Schema being registered is "
                              "incompatible with an earlier schema for subject \"%s\"" % parts[1]})
            return
        self.answer(200, {"id": self.store.register(parts[1], body["schema"])})


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("store")
    parser.add_argument("--path", default="")
    parser.add_argument("--user")
    parser.add_argument("--token")
    parser.add_argument("--tls")
    parser.add_argument("--slow", type=float, default=0)
    parser.add_argument("--young", type=float, default=0)
    parser.add_argument("--fail", default="")
    parser.add_argument("--html", action="store_true")
    Handler.options = parser.parse_args()
    Handler.options.fail = [int(status) for part in Handler.options.fail.split(",") if part
                            for status in [part.split(":")[1]] * int(part.split(":")[0])]
    Handler.store = Store(Handler.options.store)
    server = Server(("127.0.0.1", Handler.options.port), Handler)
    if Handler.options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(Handler.options.tls, "server.pem"))
        context.load_verify_locations(os.path.join(Handler.options.tls, "ca.pem"))
        context.verify_mode = ssl.CERT_REQUIRED
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("stand-in registry is listening", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
