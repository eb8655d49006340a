#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What stacktally check says of this machine, and of one from which things are taken away: check_test.sh BUILD
# timeout: 240
# kind: refusals
. "$(dirname "$0")/../harness.bash" "$1"
stacktally=$1/stacktally

# checked COMMAND...: runs the check by the command
checked() {
	"$@" >"$out" 2>"$err"
	status=$?
}
# found STATUS THING REGEX: it says that of the thing
found() { says "$2 is $1" "^$1 +$2 .*$3" "$out"; }
# is_not_ok THING: the check does not say that it works
is_not_ok() {
	! grep -Eq "^ok +$1 " "$out" && grep -Eq "^[a-z ]+ +$1 " "$out"
	check $? "$1 is not ok" "$(grep -E " $1 " "$out")"
}

python3 -c 'def rounds():
    return sum(range(100))
while True: rounds()' &
started+=("$!")
checked "$stacktally" check
[ "$status" -le 1 ]
check $? "root can measure" "exit status $status: $(cat "$out" "$err")"
[ ! -s "$err" ]
check $? "stderr is empty" "$(cat "$err")"
! grep -qvE '^(ok|limited|missing|not tried) +[a-z A-Z'"'"']+ .+|^ +-> .+' "$out"
check $? "each line has its form" "$(cat "$out")"
found ok BTF /sys/kernel/btf
found ok capabilities ''
found ok 'perf events' ''
found ok 'CPU samples' 'of a busy child'
found ok unwinding 'whole'
found ok "kernel's names" ''
found ok 'time off the CPU' 'its stack whole'
found ok tracepoints 'events of a child'
found ok python 'functions of its programs are shown'
found '[a-z ]+' python "[(]$(python3 -c 'import sys; print("%d[.]%d" % sys.version_info[:2])')[^)]*[)]: "
if grep -Eq '^(limited|missing)' "$out"; then expected=1; else expected=0; fi
exits "the exit status tells whether all works" $expected

checked "$stacktally" check --json
python3 - "$out" <<'END'
import json, sys
found = json.load(open(sys.argv[1]))
assert len(found) > 15, found
assert all(set(f) - {"remedy"} == {"name", "status", "says"} for f in found)
assert {f["status"] for f in found} <= {"ok", "limited", "missing", "not tried"}
assert next(f for f in found if f["name"] == "CPU samples")["status"] == "ok"
END
check $? "--json says the same" "$(cat "$out")"

# ---- without privileges
chmod 711 "$tmp" "${TMPDIR-$tmp}"
cp "$stacktally" "$tmp/stacktally"
chmod 755 "$tmp/stacktally"
checked setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/stacktally" check
exits "nobody can measure nothing" 3
found missing capabilities 'CAP_BPF'
found missing 'CPU samples' 'missing CAP_BPF and CAP_PERFMON'
for thing in unwinding 'time off the CPU' tracepoints 'the whole machine'; do
	! grep -Eq "^ok +$thing " "$out"
	check $? "$thing is not ok" "$(cat "$out")"
done
setpriv --reuid=65534 --regid=65534 --clear-groups sleep 100 &
started+=("$!")
checked setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace "$stacktally" check
found limited capabilities 'not to open files of other users'
says "with its remedy" '^ +-> CAP_SYS_PTRACE' "$out"
# where there is no such process, it makes one
checked unshare --pid --fork --mount-proc setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace "$stacktally" check
found limited capabilities 'not to open files of other users'

checked setpriv --bounding-set -dac_read_search,-dac_override --inh-caps -dac_read_search,-dac_override "$stacktally" check
found limited capabilities 'not to read programs that only their owners may read'
says "with its remedy" '^ +-> CAP_DAC_READ_SEARCH' "$out"

# ---- without parts of the machine
in_mounts() { checked unshare -m --propagation private sh -c "$1"' && exec $1 "$0" check' "$stacktally" "${2-env}"; }
in_mounts 'mount -t tmpfs none /sys/kernel/tracing && mount -t tmpfs none /sys/kernel/debug'
found ok tracefs 'a mount of their own'
found ok tracepoints ''
in_mounts 'mount -t tmpfs none /sys/kernel/tracing && mount -t tmpfs none /sys/kernel/debug' \
	'setpriv --bounding-set -sys_admin --inh-caps -sys_admin'
found missing tracefs ''
says "how to get it" '^ +-> mount -t tracefs' "$out"
is_not_ok tracepoints
in_mounts 'mount -t tmpfs none /sys'
found missing BTF ''
says "what to mount" '^ +-> mount /sys' "$out"
is_not_ok 'CPU samples'
checked unshare --pid --fork --mount-proc "$stacktally" check
found limited processes 'PID namespace'
found ok 'CPU samples' ''
checked env DEBUGINFOD_URLS=http://127.0.0.1:1 PATH=/nonexistent "$stacktally" check
found missing debuginfod 'no debuginfod-find'
checked "$stacktally" check --jsno
exits "it has one option" 2
exit $failed
