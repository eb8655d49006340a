#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Inlined functions, source lines, and names of code without symbols: names_inlines_test.sh BUILD
# timeout: 240
# kind: inlined
. "$(dirname "$0")/../harness.bash" "$1"
unset BCC_SYMFS BCC_DEBUGINFO_ROOT DEBUGINFOD_URLS
inlined=$programs/names_inlined

# ---- inlined functions and lines, compared with addr2line
measure_command --format folded -F 1999 -U -- "$inlined" 100
has "functions that are not inlined are shown" ';compute[^;]*(;|$)'
lacks "inlined functions are not shown unless asked for" ';add(_twice)?( |;|$)'
measure_command -F 1999 -U --inlines -- "$inlined" 600
has "with --inlines they are frames of their own" ';compute[^;]*;add_twice;add$'
lacks "without --lines there are none" '\.c:[0-9]'
"$profile" -F 1999 -U -A --inlines --lines -o "$tmp/report" --format text -- "$inlined" 600 >"$fate" 2>"$err"
cat >"$tmp/compare.py" <<'S'
# Compares the frames of a program in a text report with addr2line's. The program is not position
# independent, so addresses in memory are those in the file.
import re
import subprocess
import sys

report, program = sys.argv[1:]
said, frames = {}, []
for line in open(report):
    m = re.match(r"    0x([0-9a-f]{16}) (.*?)(?: \(inlined\))? \[([^]]*)\](?: \((.*):(\d+)\))?$", line)
    if m:
        name = re.sub(r"\+0x[0-9a-f]+$", "", m[2])
        frames.append((int(m[1], 16), name.split(".")[0], m[3], (m[4] or "?").split("/")[-1], m[5]))
        continue
    leaf = frames[0][0] if frames else None
    for address in dict.fromkeys(f[0] for f in frames):
        here = [f for f in frames if f[0] == address]
        if here[0][2] == program.split("/")[-1] and here[0][1] != "_start" and "@plt" not in here[0][1]:
            said[address - (address != leaf)] = [f"{f[1]} {f[3]}:{f[4]}" for f in here]
    frames = []
wrong, deep = 0, 0
for address, here in said.items():
    lines = subprocess.run(["addr2line", "-fi", "-e", program, hex(address)], text=True,
                           capture_output=True, check=True).stdout.splitlines()
    theirs = [f"{n.split('.')[0]} {re.sub(r' .discriminator.*', '', l).split('/')[-1]}"
              for n, l in zip(lines[::2], lines[1::2])]
    deep += len(here) >= 3
    if here != theirs:
        wrong += 1
        print(hex(address), here, theirs)
print(len(said), "addresses,", deep, "with inlined functions in inlined ones,", wrong, "wrong")
sys.exit(wrong > 0 or len(said) < 8 or deep < 2)
S
python3 "$tmp/compare.py" "$tmp/report" "$inlined" >"$tmp/log" 2>&1
check $? "frames and lines are those of addr2line -fi at each address" "$(tail -n 5 "$tmp/log")"
tail -n 1 "$tmp/log"
strip -o "$tmp/names_inlined" "$inlined"
objcopy --only-keep-debug "$inlined" "$tmp/debug"
id=$(readelf -n "$inlined" | sed -n 's/^ *Build ID: //p')
if [ -n "$id" ]; then
	mkdir -p "$tmp/root/.build-id/${id:0:2}"
	cp "$tmp/debug" "$tmp/root/.build-id/${id:0:2}/${id:2}.debug"
	BCC_DEBUGINFO_ROOT=$tmp/root measure_command -F 1999 -U --inlines --lines -- "$tmp/names_inlined" 300
	has "the same with a separate debug file" ';compute[^;]*;add_twice \([^;]*:[0-9]+\);add \([^;]*:[0-9]+\)$'
else
	skip "the same with a separate debug file" "the compiler writes no build-id"
fi

# ---- names of code without symbols: the procedure linkage table, the start
# An entry of the table is a single jump. Whether samples fall on it depends on where the C library
# is mapped, which differs from run to run.
measure_linkage() {
	for _ in {1..40}; do
		measure_command -F 1999 -U -- "$1" 600
		[ "$(counted '(^|;)strlen@plt$')" -eq 0 ] || break
	done
}
measure_linkage "$tmp/names_inlined"
has "entries of the linkage table have names in a stripped program" '(^|;)strlen@plt$'
measure_linkage "$inlined"
has "and in one that is not stripped" '(^|;)strlen@plt$'
cat >"$tmp/start.S" <<'S'
	.globl _start
#if defined(__x86_64__)
_start:	xor %ebp, %ebp /* as the C library begins */
	mov $300000000, %rcx
1:	dec %rcx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
#elif defined(__aarch64__)
_start:	mov x29, #0
	mov x1, #0x10000000
1:	subs x1, x1, #1
	b.ne 1b
	mov x8, #93
	mov x0, #0
	svc #0
#endif
S
gcc -nostdlib -static -o "$tmp/start" "$tmp/start.S" && strip "$tmp/start"
measure_command -F 1999 -U -- "$tmp/start"
calculates "$(counted '(^|;)_start$') > 0.9 * $(total) && $(total) > 10"
check $? "the entry point of a stripped program is _start" "$(hottest)"

# ---- stripped Go programs
if command -v go >"$fate"; then
	cat >"$tmp/spin.go" <<'S'
package main

//go:noinline
func spinInGo(n uint64) (sum uint64) {
	for i := uint64(0); i < n; i++ {
		sum += i ^ sum>>3
	}
	return
}

func main() {
	for i := 0; i < 300; i++ {
		println(spinInGo(1000000))
	}
}
S
	(cd "$tmp" && HOME=$tmp GOCACHE=$tmp/cache GOFLAGS=-mod=mod GO111MODULE=off \
		go build -ldflags '-s -w' -o spin spin.go) 2>"$err"
	measure_command -F 499 -- "$tmp/spin"
	has "a stripped Go program has its names" ';runtime\.main;(main\.main;)?main\.spinInGo$'
	# The first function of a thread has no caller, and its frame pointer is not valid.
	lacks "none of it is unknown" '^spin;(.*;)?(runtime|main)\.[^;]*;\[unknown\]'
else
	skip "a stripped Go program has its names" "there is no go"
fi
finish
