# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests a script of a FastCGI server, and prints the answer: fcgi_request.py SOCKET SCRIPT."""
import socket
import struct
import sys

BEGIN, PARAMS, STDIN, STDOUT, END = 1, 4, 5, 6, 3


def record(kind, content):
    return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content


def receive(stream, size):
    data = b""
    while len(data) < size:
        more = stream.recv(size - len(data))
        if not more:
            sys.exit("the server closed the connection")
        data += more
    return data


def main():
    parameters = {b"SCRIPT_FILENAME": sys.argv[2].encode(), b"REQUEST_METHOD": b"GET"}
    pairs = b"".join(struct.pack("BB", len(k), len(v)) + k + v for k, v in parameters.items())
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(sys.argv[1])
        stream.sendall(record(BEGIN, struct.pack(">HB5x", 1, 0)) + record(PARAMS, pairs) +
                       record(PARAMS, b"") + record(STDIN, b""))
        while True:
            _, kind, _, size, padding = struct.unpack(">BBHHBx", receive(stream, 8))
            content = receive(stream, size + padding)[:size]
            if kind == STDOUT:
                sys.stdout.write(content.decode())
            elif kind == END:
                return


main()
