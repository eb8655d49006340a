#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ELF files as they may be laid out: reports of programs without section headers that have no names
# and of libraries of prelink that have no callers: odd_layouts_test.sh BUILD
# timeout: 120
# kind: layouts
. "$(dirname "$0")/../harness.bash" "$1"
if ! command -v gcc >"$fate"; then
	skip "odd layouts" "there is no gcc"
	finish
fi
cd "$tmp" || finish
base='_start;__libc_start_main;__libc_start_call_main'
cat >library.c <<'END'
__attribute__((noinline)) void leaf(void) { for (volatile long i = 0; i < 120000000; i++); }
static __attribute__((noinline)) void hidden(void) { leaf(); __asm__ volatile(""); }
void outer(void) { char room[100]; __asm__ volatile("" ::"r"(room) : "memory"); hidden(); __asm__ volatile(""); }
END
cat >main.c <<'END'
void outer(void);
int main(void) { outer(); return 0; }
END
# spins NAME REGEX PROGRAM: all stacks in leaf() match
spins() {
	measure_command -U -F 499 -- "$3"
	local in_leaf
	in_leaf=$(counted ';leaf(;|$)')
	[ "$in_leaf" -gt 5 ] && [ "$(counted "$2")" -eq "$in_leaf" ]
	check $? "$1" "$(hottest) $(tail -n 1 "$err")"
}

gcc -O2 -fomit-frame-pointer -rdynamic -s -o exports main.c library.c || finish
printf '\0\0\0\0\0\0\0\0' | dd of=exports bs=1 seek=40 conv=notrunc status=none
printf '\0\0\0\0' | dd of=exports bs=1 seek=60 conv=notrunc status=none
spins "without section headers, exported functions have names" \
	"^exports;$base;(main|\\[exports[^;]*);outer;\\[exports\\+0x[0-9a-f]*\\];leaf$" ./exports

gcc -O2 -fomit-frame-pointer -shared -fPIC -s -o libhigh.so library.c -Wl,-Ttext-segment=0x3000000000 &&
	gcc -O2 -o high main.c ./libhigh.so || finish
spins "a library above 4 GiB" "^high;$base;main;outer;\\[libhigh.so\\+0x30[0-9a-f]*\\];leaf$" ./high

gcc -O2 -fomit-frame-pointer -no-pie -o ordered main.c library.c && python3 - <<'END' || finish
import struct
b = bytearray(open("ordered", "rb").read())
at, n = struct.unpack_from("<Q", b, 32)[0], struct.unpack_from("<H", b, 56)[0]
loads = [at + 56 * i for i in range(n) if struct.unpack_from("<I", b, at + 56 * i)[0] == 1]
for place, segment in zip(loads, [bytes(b[i:i + 56]) for i in reversed(loads)]):
    b[place:place + 56] = segment
open("reversed", "wb").write(b)
END
chmod +x reversed
if ./reversed 2>"$fate"; then
	spins "segments in reversed order" "^reversed;$base;main;outer;hidden;leaf$" ./reversed
else
	skip "segments in reversed order" "this kernel does not run it"
fi

# Reports of profiles in which 32-bit programs have neither functions nor a reason.
cat >small.c <<'END'
__attribute__((noinline)) void leaf(void) { for (volatile int i = 0; i < 120000000; i++); }
void _start(void) { leaf(); __asm__ volatile("int $0x80" ::"a"(1), "b"(0)); }
END
if gcc -m32 -O2 -fomit-frame-pointer -nostdlib -static -fno-pie -no-pie -o small small.c 2>"$fate" &&
	./small 2>"$fate"; then
	spins "a 32-bit program: the function that runs, and why its callers are missing" \
		"^small;\\[unwind: 32-bit\\];leaf$" ./small
else
	skip "a 32-bit program" "it cannot be built, or this kernel does not run it"
fi

# Reports of times in the page of vsyscalls that were called something else: its address has all the
# bits that flags of frames have.
cat >vsyscall.c <<'END'
int main(void)
{
	long (*time)(long *) = (void *)0xffffffffff600400, sum = 0;

	for (int i = 0; i < 400000; i++)
		sum += time(0);
	return sum == 0;
}
END
if gcc -O1 -o vsyscall vsyscall.c && ./vsyscall 2>"$fate"; then
	measure -U -f -F 997 -- ./vsyscall
	has "time in the page of vsyscalls has its function" '^vsyscall;_start;.*;main;time$'
	lacks "and is not called what it is not" 'off the CPU'
else
	skip "the page of vsyscalls" "this kernel has none"
fi
finish
