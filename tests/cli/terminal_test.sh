#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of files, commands and threads cannot control the terminal: terminal_test.sh BUILD
# kind: strangers
set -u
export LC_ALL=C
profile=$1/profile
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
cd "$tmp" || exit 1

# clean NAME FILE WORDS: no control character and no byte that is not ASCII, and the rest is there
clean() {
	! grep -qa "$(printf '[\001-\010\013-\037\177-\377]')" "$2" && grep -qF -- "$3" "$2"
	check $? "$1" "$(cat -v "$2")"
}
name=$(printf 'x\033[31mred\007\377\302\233')
printf 'c\033[1m\377;main;f\033]0;a\007 5\n' >"$name"
"$profile" --from "$name" >out 2>err
clean "the title of a report" out '31mred'
clean "the closing line of a report" err '5 samples'
"$profile" -q --from "$name" -o a.stacktally && "$profile" --from a.stacktally >out 2>err
clean "the title of a recording of unknown origin" out '31mred'
"$profile" -q --from "$name" -f >out
clean "names in folded stacks" out 'main'
printf 'a;b 5\na;b five%s\n' "$name" >"bad$name"
"$profile" --from "bad$name" >out 2>err
clean "an error that names a file" err 'line 2'
printf 'a;b 1.5%s\n' "$name" >bad
"$profile" --from "nothing$name" >out 2>err
clean "a file that is not there" err 'No such file'
"$profile" --from "$name" --format "x$name" >out 2>err
clean "a usage error" err "unknown format"
"$profile" "--opt$name" >out 2>err
clean "an option that is none" err '--opt'
"$profile" -q --from a.stacktally --format svg >out 2>err
clean "a flame graph" out 'main'
exit $failed
