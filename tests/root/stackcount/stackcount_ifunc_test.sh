#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Probes of functions that a resolver chooses: stackcount_ifunc_test.sh BUILD
# timeout: 120
# kind: calls
. "$(dirname "$0")/../harness.bash" "$1"
hostile=$(dirname "$0")/../../hostile/wrong_choice.py
python=/usr/bin/python3
uid=1001
libm=$(ldconfig -p | sed -n 's/.*libm\.so\.6 .*x86-64.* => //p' | head -n 1)
if ! command -v setpriv readelf >"$fate" || [ ! -x $python ] || [ ! -e "$libm" ] ||
	! readelf -rW "$libm" | grep -q IRELATIVE; then
	skip "all" "needs setpriv, readelf, $python, and a libm with IFUNCs"
	finish
fi
libm=$(readlink -f "$libm")
# code PID: a checksum of the code of libm in a process's memory
code() {
	$python - "$1" "$libm" <<'P'
import re, sys, zlib
with open(f"/proc/{sys.argv[1]}/maps") as f:
    start, end = next(map(lambda n: int(n, 16), re.split("[- ]", line)[:2]) for line in f
                      if " r-xp " in line and line.rstrip().endswith(sys.argv[2]))
with open(f"/proc/{sys.argv[1]}/mem", "rb") as f:
    f.seek(start)
    code = f.read(end - start)
print(zlib.crc32(code), code.count(b"\xcc"))
P
}

# ---- the only process that maps libm is another account's, and lies
begin setpriv --reuid $uid --regid $uid --clear-groups $python "$hostile" "$libm" 1 || finish
liar=$pid
"$stackcount" -D 1 "$libm:sin" >"$out" 2>"$err"
status=$?
if [ "$(grep -l "$libm" /proc/[0-9]*/maps 2>"$fate" | grep -vc "/$liar/")" -gt 0 ]; then
	ok "another process maps libm"
else
	[ $status -ne 0 ]
	check $? "what another account's process says is not believed" "$(head -n 3 "$out" "$err")"
fi

# ---- with one of root's
begin $python -uc 'import ctypes, math, os, time
print("ready", os.getpid())
while True: math.sin(2.5); time.sleep(0.001)' || finish
victim=$pid
before=$(code "$victim")
"$stackcount" -f -p "$victim" -D 2 "$libm:sin" >"$out" 2>"$err" &
run=$!
started+=($run)
has_breakpoint() {
	during=$(code "$victim")
	[ "$during" != "$before" ]
}
await 30 has_breakpoint
wait $run
status=$?
exits "root's own process can be measured" 0
has "... its calls are counted" ';(__)?sin(_|$)'
[ "${during#* }" -eq $((${before#* } + 1)) ]
check $? "one instruction of it has a breakpoint" "$before, then $during"
after=$(code "$victim")
[ "$after" = "$before" ]
check $? "... and none afterwards" "$before, then $after"
"$stackcount" -f -D 2 "$libm:sin" >"$out" 2>"$err"
status=$?
exits "without -p, root's process is believed" 0
has "... and counted" ';(__)?sin(_|$)'

# ---- a liar that is measured itself: an address inside a function is no function
end
begin setpriv --reuid $uid --regid $uid --clear-groups $python "$hostile" "$libm" 1 || finish
"$stackcount" -D 1 -p "$pid" "$libm:sin" >"$out" 2>"$err"
status=$?
[ $status -ne 0 ]
check $? "an address inside of a function is refused" "$(head -n 3 "$out" "$err")"
finish
