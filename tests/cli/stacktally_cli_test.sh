#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The command stacktally and its other names: stacktally_cli_test.sh BUILD
set -u
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
stacktally() { "$build/stacktally" "$@" >"$tmp/out" 2>"$tmp/err"; }
# same NAME COMMAND...: stacktally's last answer is what COMMAND prints, but for the program's name
same() {
	local name=$1 status=$?
	shift
	"$@" >"$tmp/other.out" 2>"$tmp/other.err"
	[ $? -eq $status ] && [ -s "$tmp/out" ] && cmp -s "$tmp/out" "$tmp/other.out" && cmp -s "$tmp/err" "$tmp/other.err"
	check $? "$name" "status $status: $(diff "$tmp/other.out" "$tmp/out" | head -n 3; head -n 3 "$tmp/err")"
}
# refuses NAME MESSAGE ARGUMENT...
refuses() {
	local name=$1 message=$2 status
	shift 2
	stacktally "$@"
	status=$?
	[ $status -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = "$message" ]
	check $? "$name" "status $status: $(cat "$tmp/err")"
}

recording=$top/tests/golden/recordings/stackcount.stacktally
stacktally stackcount --from "$recording" -f
same "stacktally stackcount is stackcount" "$build/stackcount" --from "$recording" -f
recording=$top/tests/golden/recordings/profile.stacktally
stacktally profile --from "$recording" -f
same "stacktally profile is profile" "$build/profile" --from "$recording" -f
for command in profile stackcount; do
	stacktally $command --help
	head -n 1 "$tmp/out" | grep -q "^usage: stacktally $command \[-h\]"
	check $? "the help of $command has the name that was typed" "$(head -n 1 "$tmp/out")"
	stacktally help $command
	same "stacktally help $command shows it" "$build/stacktally" $command --help
	cp "$build/$command" "$tmp/$command-bpfcc"
	"$tmp/$command-bpfcc" --version >"$tmp/out" 2>&1
	grep -q "^$command-bpfcc (stacktally) [0-9]" "$tmp/out"
	check $? "a longer name is that command: $command-bpfcc" "$(head -n 2 "$tmp/out")"
	stacktally --help
	grep -q "^  $command " "$tmp/out" && grep -qF "\\fB$command\\fR" "$top/docs/stacktally.1"
	check $? "the help and the man page have $command" "$(cat "$tmp/out")"
done

stacktally --help
[ $? -eq 0 ] && [ ! -s "$tmp/err" ] && grep -q '^usage: stacktally ' "$tmp/out" && grep -q '^commands:$' "$tmp/out"
check $? "--help is answered on stdout" "$(head -n 3 "$tmp/out" "$tmp/err")"
for way in -h help; do
	stacktally $way
	same "stacktally $way is the same" "$build/stacktally" --help
done
stacktally --version
[ $? -eq 0 ] && grep -Eqx 'stacktally [0-9]+\.[0-9]+\.[0-9]+ \(commit ([0-9a-f]{12}(-modified)?|unknown)\)' "$tmp/out"
check $? "--version" "$(cat "$tmp/out" "$tmp/err")"
"$build/stacktally" --help >/dev/full 2>"$tmp/err"
[ $? -eq 1 ]
check $? "help that cannot be written is an error" "it is not"

hint=$'\n'"Try 'stacktally --help'."
choose="(choose from 'profile', 'stackcount', 'check', 'last', 'probe', 'help')"
refuses "no such command" "stacktally: error: no command 'prof' $choose$hint" prof 10
refuses "no such option" "stacktally: error: no command '-F' $choose$hint" -F 99 profile
refuses "help of no command" "stacktally: error: no command 'nosuch' $choose$hint" help nosuch
refuses "an error of a command" "stacktally profile: error: unrecognized arguments: -Z
Try 'stacktally profile --help'." profile -Z
stacktally
[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q '^  profile ' "$tmp/err"
check $? "without arguments it shows its help, and fails" "$(head -n 3 "$tmp/out" "$tmp/err")"

# ---- probe
export STACKTALLY_STATE_FILE=$tmp/state
# state STATE SECONDS: the file says that it was written so many seconds ago
state() {
	python3 -c 'import sys, time
print("%-8s %20d" % (sys.argv[1], time.monotonic_ns() - int(sys.argv[2]) * 10**9))' "$1" "$2" >"$tmp/state"
}
probed() { # probed NAME STATUS TEXT WHAT
	stacktally probe "$4"
	[ $? -eq "$2" ] && [ ! -s "$tmp/out" ] && { [ -z "$3" ] || grep -qF -- "$3" "$tmp/err"; }
	check $? "probe: $1" "$(cat "$tmp/err")"
}
probed "no file is not ready" 1 "No such file" ready
probed "nor alive" 1 "does not tell how the measurement is" alive
for each in starting ending; do
	state $each 1
	probed "what is $each is not ready" 1 "the measurement is $each" ready
	probed "but alive" 0 "" alive
done
state ready 100
probed "ready" 0 "" ready
probed "and alive" 0 "" alive
state ready 200
probed "without a sign of life it is not ready" 1 "no sign of life for 200 s" ready
probed "nor alive then" 1 "which was ready" alive
state ready -1000000000
probed "nor by a time to come" 1 "no sign of life" alive
for each in '' ready 'ready x' 'unknown 1' 'readyready 1'; do
	echo "$each" >"$tmp/state"
	probed "'$each' in the file tells nothing" 1 "does not tell how" alive
done
rm "$tmp/state" && mkfifo "$tmp/state"
probed "a FIFO tells nothing, and is not waited for" 1 "does not tell how" ready
unset STACKTALLY_STATE_FILE
probed "there must be a file" 2 "STACKTALLY_STATE_FILE is not set" ready
probed "ready or alive, nothing else" 2 "probe takes 'ready' or 'alive', not 'well'" well

# ---- last
refuses "last without a time" "stacktally last: error: how much of the last time? For example: stacktally last 5m -o before.html
Try 'stacktally last --help'." last
refuses "last of a wrong time" "stacktally last: error: argument TIME: must be a number of seconds
Try 'stacktally last --help'." last yesterday
stacktally last --help
head -n 1 "$tmp/out" | grep -qF 'usage: stacktally last TIME'
check $? "last has a help" "$(cat "$tmp/err")"
"$build/profile" --from "$recording" --keep 1m >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -- '--keep cannot be used with --from' "$tmp/err"
check $? "--keep measures" "$(cat "$tmp/err")"
exit $failed
