# SPDX-License-Identifier: GPL-2.0-or-later
"""A gRPC server that accepts each call, reads what is sent, and answers with an empty message.

Prints its port, and serves until it is killed. A peer that needs a server for its profiles sends them
here. Knows as much of HTTP/2 (RFC 9113) as that takes.
"""
import socket
import struct
import sys
import threading

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
STATUS_200 = b"\x88"  # of HPACK's static table
EMPTY_MESSAGE = bytes(5)


def header(name, value):
    """A header field that no table keeps."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def answer(stream):
    return (frame(HEADERS, END_HEADERS, stream, STATUS_200 + header(b"content-type", b"application/grpc")) +
            frame(DATA, 0, stream, EMPTY_MESSAGE) +
            frame(HEADERS, END_HEADERS | END_STREAM, stream, header(b"grpc-status", b"0")))


def reply(kind, flags, stream, payload):
    """What to send for a frame."""
    if kind == SETTINGS and not flags & ACK:
        return frame(SETTINGS, ACK, 0)
    if kind == PING and not flags & ACK:
        return frame(PING, ACK, 0, payload)
    if kind not in (DATA, HEADERS):
        return b""
    said = b""
    if kind == DATA and payload:
        room = struct.pack(">I", len(payload))
        said = frame(WINDOW_UPDATE, 0, 0, room) + frame(WINDOW_UPDATE, 0, stream, room)
    return said + (answer(stream) if flags & END_STREAM else b"")


def serve(client):
    with client, client.makefile("rb") as stream:
        if stream.read(len(PREFACE)) != PREFACE:
            return
        client.sendall(frame(SETTINGS, 0, 0))
        while len(head := stream.read(9)) == 9:
            kind, number = head[3], int.from_bytes(head[5:], "big") & 0x7FFFFFFF
            payload = stream.read(int.from_bytes(head[:3], "big"))
            if kind == GOAWAY:
                return
            client.sendall(reply(kind, head[4], number, payload))


def main():
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            threading.Thread(target=serve, args=[server.accept()[0]], daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
