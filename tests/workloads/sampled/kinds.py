# SPDX-License-Identifier: GPL-2.0-or-later
"""kinds.py json|re|hashlib|zlib: for ever."""
import hashlib
import json
import random
import re
import sys
import zlib

random.seed(1)
NUMBERS = [{"n": i, "name": "name %d" % i, "parts": [i, i * 2, None, 1.5 * i]} for i in range(500)]
TEXT = json.dumps(NUMBERS)
BYTES = bytes(random.randrange(64) for _ in range(200000))


def do_json():
    assert json.loads(json.dumps(NUMBERS, indent=1)) == NUMBERS


def do_re():
    # Compiled anew each time, too.
    re.purge()
    for i in range(20):
        re.sub(r'"name": "(\w+) (\d+)"', lambda m: m[2] + m[1], TEXT[i:])
        re.findall(r"(?:[0-9]+\.[0-9]+|null)+|[a-z]{%d,}" % i, TEXT)


def do_hashlib():
    for name in ("md5", "sha1", "sha256", "sha3_256", "blake2b"):
        hashlib.new(name, BYTES).hexdigest()
    hashlib.pbkdf2_hmac("sha256", b"word", b"salt", 1000)


def do_zlib():
    assert zlib.decompress(zlib.compress(BYTES, 6)) == BYTES
    zlib.crc32(BYTES)


while True:
    globals()["do_" + sys.argv[1]]()
