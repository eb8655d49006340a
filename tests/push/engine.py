#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTTP server that behaves as an engine does on a bad day: engine.py DIRECTORY [--tls CERT KEY]

Prints its port. Each request takes the next line of DIRECTORY/plan, or the last one for ever:
  take            204, and the body is kept as DIRECTORY/N.body, the head as DIRECTORY/N.head
  answer STATUS [Header: value]   that status, and a body that says so; the body is not kept
  slow-answer     takes the body, then one byte a second
  slow-read       reads one byte a second
  silent          takes the body, then closes without an answer
  hang            takes the body, and says nothing
  reset           closes after the first bytes of the request
  garbage         answers what is not HTTP
  chunked         takes the body, and answers 200 in chunks after a 100 Continue
  endless         answers 200 with a body that never ends
DIRECTORY/log has a line for each request: what was done, and the SHA-256 of the body."""

import hashlib
import os
import socket
import ssl
import sys
import threading
import time


class Engine:
    def __init__(self, directory):
        self.directory = directory
        self.lock = threading.Lock()
        self.n = 0

    def next_step(self):
        with self.lock, open(os.path.join(self.directory, "plan")) as plan:
            lines = [line.strip() for line in plan if line.strip()]
            step = lines[min(self.n, len(lines) - 1)]
            self.n += 1
            return self.n, step

    def log(self, line):
        with self.lock, open(os.path.join(self.directory, "log"), "a") as log:
            log.write(line + "\n")

    def keep(self, n, head, body):
        for name, content in ((f"{n}.body", body), (f"{n}.head", head)):
            path = os.path.join(self.directory, name)
            with open(path + ".new", "wb") as out:
                out.write(content)
            os.rename(path + ".new", path)


def read_head(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(4096)
        if not piece:
            raise ConnectionError("no head")
        head += piece
    head, _, body = head.partition(b"\r\n\r\n")
    fields = dict(
        line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line
    )
    return head, body, int(fields[b"Content-Length"])


def read_body(connection, body, size):
    while len(body) < size:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError("no body")
        body += piece
    return body


def serve(engine, connection):
    n, step = engine.next_step()
    what, _, rest = step.partition(" ")
    if what == "reset":
        connection.recv(10)
        connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
        )
        engine.log("reset -")
        return
    if what == "slow-read":
        engine.log("slow-read -")
        try:
            while connection.recv(1):
                time.sleep(1)
        except OSError:
            pass
        return
    head, body, size = read_head(connection)
    body = read_body(connection, body, size)
    engine.log(f"{step} {hashlib.sha256(body).hexdigest()}")
    if what == "take":
        engine.keep(n, head, body)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
    elif what == "answer":
        status, _, field = rest.partition(" ")
        field = field + "\r\n" if field else ""
        text = f"because of {status}\n"
        connection.sendall(
            f"HTTP/1.1 {status} Why\r\n{field}Content-Length: {len(text)}\r\n\r\n{text}".encode()
        )
    elif what == "slow-answer":
        try:
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + 100 * b"x":
                connection.sendall(bytes([byte]))
                time.sleep(1)
        except OSError:
            pass
    elif what == "hang":
        try:
            connection.recv(1)
        except OSError:
            pass
    elif what == "garbage":
        connection.sendall(b"220 ESMTP here\r\n" * 100)
    elif what == "chunked":
        engine.keep(n, head, body)
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
        connection.sendall(b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
    elif what == "endless":
        engine.keep(n, head, body)
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65536)
        except OSError:
            pass


def handle(engine, context, connection):
    try:
        with connection:
            if context:
                with context.wrap_socket(connection, server_side=True) as secure:
                    serve(engine, secure)
            else:
                serve(engine, connection)
    except (OSError, ConnectionError) as error:
        engine.log(f"failed {type(error).__name__}")


def main():
    engine = Engine(sys.argv[1])
    context = None
    if "--tls" in sys.argv:
        at = sys.argv.index("--tls")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(sys.argv[at + 1], sys.argv[at + 2])
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    port = int(sys.argv[sys.argv.index("--port") + 1]) if "--port" in sys.argv else 0
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(
            target=handle, args=(engine, context, connection), daemon=True
        ).start()


main()
