# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests pages for some seconds: load.py PORT SECONDS. Prints how many it got."""
import http.client
import sys
import time

until = time.monotonic() + float(sys.argv[2])
n = 0
while time.monotonic() < until:
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    connection.request("GET", f"/{n % 900}")
    assert b"<h1>From" in connection.getresponse().read()
    n += 1
print(n)
