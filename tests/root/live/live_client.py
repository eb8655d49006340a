#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends requests to `profile --live`, well-formed and hostile ones: live_client.py WHAT URL [PID]"""

import base64
import gzip
import hashlib
import json
import os
import random
import re
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

WHAT, URL = sys.argv[1:3]
PARTS = urllib.parse.urlsplit(URL)
ADDRESS = (PARTS.hostname, PARTS.port)
HOST = f"{PARTS.hostname}:{PARTS.port}"
PATH = PARTS.path  # "/TOKEN/"


def case(name, good, why=""):
    print(f"ok {name}" if good else f"FAIL {name}: {str(why)[:300]}", flush=True)


def connect():
    return socket.create_connection(ADDRESS, timeout=20)


def read_all(connection):
    data = b""
    try:
        while more := connection.recv(65536):
            data += more
    except ConnectionResetError:
        pass
    return data


def raw(data):
    """Sends these bytes; returns all bytes of the reply."""
    with connect() as connection:
        connection.sendall(data)
        return read_all(connection)


def request(path="", method="GET", host=HOST, fields="", version="1.1"):
    return (f"{method} {PATH}{path} HTTP/{version}\r\nHost: {host}\r\n{fields}\r\n").encode()


def status(data):
    found = re.match(rb"HTTP/1\.1 (\d+) ", data)
    return int(found.group(1)) if found else 0


def get(path):
    with urllib.request.urlopen(URL + path, timeout=60) as answer:
        return answer.read()


def events(connection_file):
    """The events of the stream, as (name, data)."""
    name = None
    for line in connection_file:
        line = line.rstrip(b"\n")
        if line.startswith(b"event: "):
            name = line[7:].decode()
        elif line.startswith(b"data: "):
            yield name, json.loads(line[6:])


def stream():
    """Opens a stream. Tries again while all places are taken: the server frees those of slow clients."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return events(urllib.request.urlopen(URL + "events", timeout=60))
        except (urllib.error.HTTPError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def alive():
    return status(raw(request())) == 200


# ---- replies


def check_page():
    answer = raw(request())
    head, body = answer.split(b"\r\n\r\n", 1)
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    policy = fields.get("Content-Security-Policy", "")
    scripts = re.findall(rb"<script>(.*?)</script>", body, re.S)
    digest = base64.b64encode(hashlib.sha256(scripts[0]).digest()).decode() if scripts else ""
    case("the page's policy allows its own script and nothing else",
         len(scripts) == 1 and f"script-src 'self' 'sha256-{digest}'" in policy
         and "default-src 'none'" in policy and "connect-src 'self'" in policy
         and "unsafe" not in policy and "http" not in policy, policy)
    case("the page forbids framing, sniffing, caching and referrers",
         "frame-ancestors 'none'" in policy and fields.get("X-Content-Type-Options") == "nosniff"
         and fields.get("Cache-Control") == "no-store" and fields.get("Referrer-Policy") == "no-referrer"
         and fields.get("Cross-Origin-Resource-Policy") == "same-origin", fields)
    case("the page loads nothing from elsewhere", not re.search(rb"(src|href)=\"(http|//)", body))
    head_only = raw(request(method="HEAD"))
    case("HEAD returns the head only", status(head_only) == 200 and head_only.endswith(b"\r\n\r\n"), head_only[-80:])
    with open("/proc/net/tcp", encoding="ascii") as table:
        mine = [line.split()[1] for line in table if f":{PARTS.port:04X} " in line and " 0A " in line]
    case("it listens on the loopback address only", [it.split(":")[0] for it in mine] == ["0100007F"], mine)


def total_of_folded(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.decode().splitlines())


def check_saving():
    next(data for _, data in stream() if data.get("tick", 0) >= 4)
    state = next(data for name, data in stream() if name == "state")
    kinds = {"text": b"Sampling", "svg": b"<?xml", "html": b"<!DOCTYPE", "pprof": b"\x1f\x8b", "json": b"{",
             "speedscope": b"{", "firefox": b"{", "recording": b"", "perf-script": b"", "folded": b"", "top": b"", "csv": b"",
             "tsv": b""}
    wrong = [name for name, *_ in state["formats"]
             if name not in kinds or not (data := get(f"save?format={name}&from=1&to=3"))
             or not data.startswith(kinds[name])]
    case("every format can be saved", not wrong and len(state["formats"]) == len(kinds), wrong)
    counts = json.loads(get("counts?from=2&to=3"))
    folded = get("save?format=folded&from=2&to=3")
    seconds = sum(it[3] for it in state["seconds"] if it[0] in (2, 3))
    pprof = gzip.decompress(get("save?format=pprof&from=2&to=3"))
    case("a range of seconds has the same samples in every format",
         sum(counts["counts"][1::2]) == total_of_folded(folded) == seconds > 0 and len(pprof) > 100,
         (sum(counts["counts"][1::2]), total_of_folded(folded), seconds))
    case("the seconds since the start add up to the total",
         sum(state["totals"][1::2]) == sum(it[3] for it in state["seconds"]) == state["measurement"]["samples"],
         (sum(state["totals"][1::2]), state["measurement"]["samples"]))


# ---- requests that are refused


def check_refusals():
    token = PATH.strip("/")
    off = token[:-1] + ("0" if token[-1] != "0" else "1")
    for name, path in {"none": "/", "another": f"/{off}/", "capitals": f"/{token.upper().swapcase()}X/",
                       "a longer one": f"/{token}0/", "a part": f"/{token[:-1]}/", "no slash": f"/{token}",
                       "empty": "//", "before another": f"/x/{token}/", "escaped": f"/%{ord(token[0]):x}{token[1:]}/"}.items():
        for what in ("", "events", "save?format=folded", "debug/pprof/profile?seconds=1"):
            got = raw(f"GET {path}{what} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            if status(got) != 404:
                case(f"token: {name}", False, got[:80])
                return
    case("without the token every request is refused", True)
    for name, fields, host in [("a name", "", "evil.example"), ("a name with our port", "", f"evil.example:{PARTS.port}"),
                               ("an origin", "Origin: http://evil.example\r\n", HOST),
                               ("no origin", "Origin: null\r\n", HOST),
                               ("our origin, another port", f"Origin: http://{PARTS.hostname}:1\r\n", HOST)]:
        got = raw(request("save?format=folded", host=host, fields=fields))
        case(f"refuses {name}", status(got) == 403, got[:80])
    case("accepts its own origin", status(raw(request(fields=f"Origin: http://{HOST}\r\n"))) == 200)
    wanted = {"POST": 405, "PUT": 405, "DELETE": 405, "OPTIONS": 405, "TRACE": 405, "CONNECT": 405}
    got = {method: status(raw(request(method=method))) for method in wanted}
    case("only GET and HEAD are accepted", got == wanted, got)


def check_hostile():
    far = "9" * 300
    wanted = {
        "a long target": (request("x" * 9000), 414), "a long field": (request(fields=f"X: {'y' * 9000}\r\n"), 431),
        "many fields": (request(fields="X: 1\r\n" * 200), 431), "no Host": (f"GET {PATH} HTTP/1.1\r\n\r\n".encode(), 400),
        "two Hosts": (request(fields=f"Host: {HOST}\r\n"), 400), "NUL": (request(fields="X: \0\r\n"), 400),
        "bare newlines": (request().replace(b"\r\n", b"\n"), 400), "a body": (request(fields="Content-Length: 10\r\n"), 400),
        "chunks": (request(fields="Transfer-Encoding: chunked\r\n"), 501), "HTTP/9.9": (request(version="9.9"), 505),
        "TLS": (bytes.fromhex("160301020001000006fc0303") + bytes(500) + b"\n", 400),
        "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        "seconds out of bounds": (request(f"debug/pprof/profile?seconds={far}"), 400),
        "negative seconds": (request("debug/pprof/profile?seconds=-1"), 400),
        "a range out of bounds": (request(f"counts?from={far}&to={far}"), 400),
        "a range that ends before it begins": (request("counts?from=9&to=3"), 400),
        "a format that is a path": (request("save?format=../../etc/passwd"), 400),
        "a path with ..": (request("../../etc/passwd"), 404), "an unknown path": (request("debug/pprof/heap"), 404),
    }
    for name, (data, number) in wanted.items():
        got = raw(data)
        case(f"refuses {name}", status(got) == number, got[:100])
    far_off = json.loads(get("counts?from=70000000000&to=72057594037927935"))
    case("a range without seconds is empty", far_off["counts"] == [], far_off)
    got = raw(request() + request("live.js") * 20)
    case("answers one request, whatever follows it", got.count(b"HTTP/1.1 ") == 1 and status(got) == 200, got[:80])
    seed = int(os.environ.get("SEED", "7"))
    noise = random.Random(seed)
    for _ in range(200):
        data = noise.randbytes(noise.randrange(1, 3000))
        if noise.random() < 0.5:
            whole = bytearray(request("save?format=json&from=1"))
            for _ in range(noise.randrange(1, 6)):
                whole[noise.randrange(len(whole))] = noise.randrange(256)
            data = bytes(whole)
        with connect() as connection:
            connection.sendall(data)
            connection.settimeout(0.02)
            try:
                connection.recv(100)
            except OSError:
                pass
    case(f"random requests do no harm (seed {seed})", alive())


def check_slow():
    began = time.monotonic()
    connection = connect()
    closed = None
    for byte in request() * 100:
        try:
            connection.sendall(bytes([byte]))
            time.sleep(0.2)
            connection.setblocking(False)
            if connection.recv(1) == b"":
                closed = time.monotonic() - began
                break
        except BlockingIOError:
            connection.setblocking(True)
        except OSError:
            closed = time.monotonic() - began
            break
    case("a client that sends byte by byte is cut off after some seconds", closed is not None and 4 < closed < 12, closed)
    streams = [connect() for _ in range(20)]
    for it in streams:
        it.sendall(request("events"))
    for it in streams:
        it.recv(1)  # the server has accepted or refused each
    # Read the events so far: they may have come before the server closed the stream.
    followers = []
    for it in streams:
        it.setblocking(False)
        try:
            while it.recv(1 << 20):
                pass
        except BlockingIOError:
            followers.append(it)
        except OSError:
            pass
    open_ones = 0
    for it in followers:
        it.settimeout(2.5)
        try:
            # Each second brings an event, unless the stream was closed or refused.
            while more := it.recv(1 << 20):
                if b"event: tick" in more and more.endswith(b"\n\n"):
                    open_ones += 1
                    break
        except OSError:
            pass
    case("16 streams are open at a time, no more", open_ones == 16, open_ones)
    for it in streams:
        it.close()
    deadline = time.monotonic() + 20
    freed = False
    while not freed and time.monotonic() < deadline:
        with connect() as connection:
            connection.sendall(request("events"))
            freed = connection.recv(12) == b"HTTP/1.1 200"
    case("their places are free again when they are closed", freed)


def check_privileges():
    none = 0
    for task in os.listdir(f"/proc/{sys.argv[3]}/task"):
        with open(f"/proc/{sys.argv[3]}/task/{task}/status", encoding="ascii") as file:
            text = file.read()
        none += all(line in text for line in
                    ("CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"))
    case("the thread that serves has no privileges", none == 1, none)


def follow():
    """Adds up all events of a stream until the end."""
    samples = lost = ticks = 0
    ended, in_order, counted, last = False, True, 0, None
    for name, data in stream():
        if name == "state":
            samples, last = data["measurement"]["samples"], data["tick"]
            lost = data["measurement"]["losses"]["lost"]
            counted = sum(data["totals"][1::2])
            print("following", flush=True)
        elif name == "tick":
            in_order = in_order and data["tick"] == last + 1
            last = data["tick"]
            ticks += 1
            print("tick", flush=True)
            samples += data["samples"]
            lost += data["lost"]
            counted += sum(data["counts"][1::2])
        elif name == "end":
            ended = True
            break
    case("there is an event for each second, and one for the end", ended and in_order and ticks > 2, (ended, in_order, ticks))
    case("boxes and seconds have the same samples", counted == samples > 0, (counted, samples))
    print(f"followed {samples} {lost}", flush=True)


def be_stuck():
    """200 clients, until they are killed: some without the token, some with it that do not read."""
    stuck = []
    for i in range(200):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(ADDRESS)
        what = i % 5
        try:
            if what == 1:
                connection.sendall(b"GET / HT")
            elif what == 2:
                connection.sendall(request("events"))
            elif what == 3:
                connection.sendall(request("save?format=json"))
            elif what == 4:
                connection.sendall(request("events"))
        except OSError:
            pass
        stuck.append((what, connection))
    print("stuck", flush=True)
    while True:
        # A client that is cut off connects again. Some read, one byte at a time.
        for i, (what, connection) in enumerate(stuck):
            try:
                if what == 4:
                    connection.setblocking(False)
                    connection.recv(1)
                elif what == 1:
                    connection.send(b"x")
                else:
                    connection.send(b"", socket.MSG_DONTWAIT)
                    if connection.recv(0, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b"":
                        pass
            except BlockingIOError:
                pass
            except OSError:
                connection.close()
                fresh = socket.socket()
                fresh.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                try:
                    fresh.connect(ADDRESS)
                    if what in (2, 4):
                        fresh.sendall(request("events"))
                    elif what == 3:
                        fresh.sendall(request("save?format=json"))
                except OSError:
                    pass
                stuck[i] = (what, fresh)
        time.sleep(0.5)


{"page": check_page, "saving": check_saving, "refusals": check_refusals, "hostile": check_hostile, "slow": check_slow,
 "privileges": check_privileges, "follow": follow, "stuck": be_stuck}[WHAT]()
