#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How profile checks its arguments, before it samples: profile_cli_test.sh BUILD
set -u
profile=$1/profile
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
# refuses MESSAGE ARGUMENT...: exit 2, that message and how to get help on stderr, nothing on stdout
refuses() {
	local message=$1 status
	shift
	"$profile" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status -eq 2 ] && [ ! -s "$tmp/out" ] &&
		[ "$(cat "$tmp/err")" = "profile: error: $message"$'\n'"Try 'profile --help'." ]
	check $? "profile $*" "exit status $status, $(head -n 3 "$tmp/err")"
}
refuses 'argument -L/--tid: not allowed with argument -p/--pid' -p 1 -L 2
refuses 'argument -p/--pid: not allowed with argument -L/--tid' -L 2 -p 1
refuses 'argument -K/--kernel-stacks-only: not allowed with argument -U/--user-stacks-only' -U -K
refuses 'argument -c/--count: not allowed with argument -F/--frequency' -F 99 -c 100
for option in '-p gunicorn' '-pgunicorn' '--pid=gunicorn'; do
	# shellcheck disable=SC2086 # words
	"$profile" $option >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] &&
		[ "$(cat "$tmp/err")" = "profile: error: argument -p/--pid: must be an integer"$'\n'"Try '--name gunicorn', or 'profile --help'." ]
	check $? "profile $option: names are for --name" "$(cat "$tmp/err")"
done
refuses 'argument -p/--pid: must be an integer' -p '1;x'
refuses 'argument -p/--pid: must be an integer' -p 1,
refuses 'argument -p/--pid: must be positive' -p -5
refuses 'argument duration: must be nonzero' 0
refuses 'argument --stack-storage-size: must be nonzero' --stack-storage-size 0
refuses 'argument --hash-storage-size: must be nonzero' --hash-storage-size 0
refuses "argument -C/--cpu: invalid int value: 'x'" -C x
refuses 'argument -F/--frequency: must be an integer' -F x
refuses 'argument -F/--frequency: must be nonzero' -F 0
refuses 'argument -c/--count: must be nonzero' -c 0
refuses 'unrecognized arguments: 2' 1 2
refuses 'unrecognized arguments: --nosuch' --nosuch
refuses 'unrecognized arguments: --uid' --uid 0 1 # not of the 0, which would be no duration
refuses 'argument -F/--frequency: expected one argument' -F
refuses 'unrecognized arguments: 5' -f -F 99 1 5
refuses 'argument --children: needs -p/--pid' --children 1
refuses 'argument --min-block: needs --off-cpu or --wall' --min-block 5
refuses 'argument --max-block: needs --off-cpu or --wall' --max-block 5
refuses 'argument --state: needs --off-cpu or --wall' --state 0
refuses 'argument --state: a bitmask is not negative' --off-cpu --state=-2
refuses 'argument --max-block: less than --min-block' --off-cpu --min-block 5 --max-block 4
refuses 'argument --off-cpu: not allowed with argument -F/--frequency' --off-cpu -F 99
refuses 'argument --off-cpu: not allowed with argument -c/--count' -c 100 --off-cpu
refuses 'argument --off-cpu: not allowed with argument -e/--event' --off-cpu -e cycles
refuses 'argument --off-cpu: not allowed with argument -I/--include-idle' --off-cpu -I
refuses 'argument --off-cpu: not allowed with argument -C/--cpu' --off-cpu -C 0
refuses 'argument --wall: not allowed with argument -c/--count' --wall -c 100
refuses 'argument --wall: not allowed with argument --off-cpu' --off-cpu --wall
refuses 'argument --wakers: needs --off-cpu or --wall' --wakers
refuses 'argument --wakers: not allowed with argument -U/--user-stacks-only: kernel stacks tell interrupts from tasks' --off-cpu --wakers -U
refuses 'argument --budget: needs --off-cpu or --wall' --budget 5
refuses 'argument --budget: must be at most 100' --off-cpu --budget 101
refuses 'argument -f/--folded: no output is folded: x.html has a format of its own (use -o FILE.folded, or -o - for stdout as well)' \
	-f -o x.html 1

# ---- --help and --version
for option in --help --hel; do
	"$profile" $option >"$tmp/help" 2>"$tmp/err"
	[ $? -eq 0 ] && [ ! -s "$tmp/err" ] && grep -q '^options:$' "$tmp/help" && grep -q '^examples:$' "$tmp/help"
	check $? "profile $option is answered on stdout" "$(head -n 2 "$tmp/help" "$tmp/err")"
done
"$profile" -h >"$tmp/help" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(wc -l <"$tmp/help")" -le 30 ] && grep -q 'profile --dump' "$tmp/help" &&
	! grep -qE '.{81}' "$tmp/help"
check $? "profile -h has what people need on one screen" "$(cat "$tmp/help")"
[[ $("$profile" --version) =~ ^profile\ .*[0-9]+\.[0-9]+ ]]
check $? "profile --version prints the version" "$("$profile" --version)"
"$profile" --help >/dev/full 2>"$tmp/err"
[ $? -eq 1 ]
check $? "help that cannot be written is an error" "it is not"

# ---- recordings need no privileges, and are checked
"$profile" --from "$tmp/nosuch" -f >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ "$(cat "$tmp/err")" = "profile: cannot read $tmp/nosuch: No such file or directory" ]
check $? "a recording that does not exist" "$(cat "$tmp/err")"
head -c 4096 /dev/zero >"$tmp/zeros"
"$profile" --from "$tmp/zeros" -f >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ]
check $? "a file that is no recording" "$(cat "$tmp/err")"

# ---- without privileges
if [ "$(id -u)" -ne 0 ]; then
	as=()
elif command -v setpriv >"$tmp/null"; then
	as=(setpriv --bounding-set=-all --inh-caps=-all)
	if ! "${as[@]}" true 2>"$tmp/err"; then
		echo "skip the message without privileges: $(head -n 1 "$tmp/err")"
		exit $failed
	fi
else
	echo "skip the message without privileges: setpriv is not installed"
	exit $failed
fi
"${as[@]}" "$profile" -f 20 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
	grep -q '^profile: missing CAP_BPF and CAP_PERFMON: .*root.*setcap cap_bpf,cap_perfmon' "$tmp/err"
check $? "without privileges, the message names the missing capabilities" "$(cat "$tmp/err")"
exit $failed
