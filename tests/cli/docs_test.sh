#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The table of options, --help, the man pages and the completions agree: docs_test.sh BUILD
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
driver=$tmp/options_driver
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"

"${CC:-gcc}" -std=gnu17 -D_GNU_SOURCE $("$top/scripts/rooms" flags) "$top/tests/cli/options_driver.c" \
	"$1/libcore.a" -o "$driver"
check $? "the tables link without libraries" "see above"

# ---- the documents
for tool in mandoc man; do
	command -v $tool >"$tmp/null" || { echo "skip $tool has nothing against stacktally.1: it is not installed" && continue; }
	case $tool in
	mandoc) warnings=$(mandoc -T lint -W warning "$top/docs/stacktally.1" 2>&1) ;;
	man) warnings=$(MANWIDTH=80 man --warnings -l "$top/docs/stacktally.1" 2>&1 >"$tmp/null") ;;
	esac
	[ -z "$warnings" ]
	check $? "$tool has nothing against stacktally.1" "$warnings"
done
for command in profile stackcount; do
	"$driver" "$command" --print-man >"$tmp/$command.8"
	"$driver" "$command" --print-completion >"$tmp/$command.bash"
	"$driver" "$command" --help >"$tmp/$command.help"
	"$driver" --table "$command" >"$tmp/$command.table"

	diff "$top/docs/$command.8" "$tmp/$command.8"
	check $? "docs/$command.8 is what the table gives" "make docs writes it"
	diff "$top/docs/completions/$command" "$tmp/$command.bash"
	check $? "docs/completions/$command is what the table gives" "make docs writes it"

	if command -v mandoc >"$tmp/null"; then
		mandoc -T lint -W warning "$tmp/$command.8"
		check $? "mandoc has nothing against $command.8" "see above"
	else
		echo "skip mandoc has nothing against $command.8: mandoc is not installed"
	fi
	if command -v man >"$tmp/null" && command -v groff >"$tmp/null"; then
		warnings=$(MANWIDTH=80 man --warnings -l "$tmp/$command.8" 2>&1 >"$tmp/null")
		[ -z "$warnings" ]
		check $? "man has nothing against $command.8" "$warnings"
	else
		echo "skip man has nothing against $command.8: man or groff is not installed"
	fi
	bash -n "$tmp/$command.bash"
	check $? "bash reads the completion of $command" "see above"

	# The fields are separated by tabs, which `read` would merge around an empty field.
	missing='' hidden=''
	while IFS='|' read -r _ name letter _ _ place visible _; do
		roff=${name//-/\\-}
		if [ "$visible" = hidden ]; then
			grep -qe "--$name" "$tmp/$command.help" "$tmp/$command.bash" && hidden+=" $name"
			continue
		fi
		if [ "$place" != option ]; then
			grep -q "^  $name " "$tmp/$command.help" || missing+=" $name(help)"
			grep -qxF "\\fI$name\\fR" "$tmp/$command.8" || missing+=" $name(man)"
			continue
		fi
		grep -Eqe "^  (-., |-. [A-Z]+, )?--$name( |\\[=|$)" "$tmp/$command.help" ||
			missing+=" --$name(help)"
		grep -qF "\\fB\\-\\-$roff\\fR" "$tmp/$command.8" || missing+=" --$name(man)"
		grep -Eqe "^[[:space:]]+(-. )?--$name\$" "$tmp/$command.bash" ||
			missing+=" --$name(completion)"
		[ "$letter" = - ] && continue
		grep -Eqe "^  -$letter(,| [A-Z]+,) --$name" "$tmp/$command.help" ||
			missing+=" -$letter(help)"
		grep -qF "\\fB\\-$letter\\fR" "$tmp/$command.8" || missing+=" -$letter(man)"
		grep -Eqe "^[[:space:]]+-$letter --$name\$" "$tmp/$command.bash" ||
			missing+=" -$letter(completion)"
	done < <(tr '\t' '|' <"$tmp/$command.table")
	[ -z "$missing" ]
	check $? "every option of $command is in help, man page and completion" "missing:$missing"
	# Options in the order of use: one line for each group, rarely used options last.
	order=$(grep -oE '^(options|filters|timing|output and saved recordings|display|rarely needed|other|examples):$|^  (-p PID|-o FILE|--live|--from|--max-depth|--hash-storage-size)' \
		<(grep -v -e '--live-token' "$tmp/$command.help") | tr -d ':\n')
	expected='options' word=
	for word in filters '  -p PID' timing 'output and saved recordings' '  -o FILE' '  --live' '  --from' display \
		'rarely needed' '  --max-depth' '  --hash-storage-size' other examples; do
		expected+=$word
	done
	[ "$order" = "$expected" ]
	check $? "the help of $command is in the order of use" "$order"
	[ -z "$hidden" ]
	check $? "no hidden option of $command is shown" "shown:$hidden"
	[ "$(wc -l <"$tmp/$command.table")" -gt 25 ]
	check $? "the table of $command has rows" "it has $(wc -l <"$tmp/$command.table")"

	# A usage error prints two lines on stderr, and nothing on stdout.
	"$driver" "$command" --nosuch 5 6 >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -qx "Try '$command --help'." "$tmp/err" &&
		[ "$(head -n 1 "$tmp/err")" = "$command: error: unrecognized arguments: --nosuch 6" ]
	check $? "a usage error of $command is on stderr only" "$(head -n 3 "$tmp/err")"
	"$driver" "/some/where/$command-x" --help | grep -q "^usage: $command-x "
	check $? "the usage of $command has the name that it was called by" "it has another"
	"$driver" "/some/where/$command-x" --nosuch 2>&1 >"$tmp/null" | grep -q "^Try '$command-x --help'"
	check $? "and so have the errors of $command" "they have another"
	[ "$("$driver" "$command" --version)" != "" ]
	check $? "$command prints its version" "it prints nothing"
	grep -q '^examples:$' "$tmp/$command.help"
	check $? "the help of $command ends with examples" "there are none"
done

# ---- what completion offers
breaks=$' \t\n"\'><=;|&(:' # bash's own
in_namespace=()
pid=$$
# shellcheck disable=SC2016 # for the inner bash
# complete_line LINE [BREAKS]: what bash would offer with the cursor at the end, one a line.
complete_line() {
	"${in_namespace[@]}" bash --norc -c '
		COMP_WORDBREAKS=$2
		line=$1 program=${1%% *}
		compopt() { :; }
		source "$3/docs/completions/$program"
		COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9 COMP_KEY=9
		read -r -a COMP_WORDS <<<"$line"
		[[ $line == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		if [[ $program == stacktally ]]; then _stacktally; else "_stacktally_$program"; fi
		((${#COMPREPLY[@]})) && printf "%s\n" "${COMPREPLY[@]}"
		true
	' complete "$1" "${2-$breaks}" "$top"
}
# plain TEXT: prints it without the paths and ids of this run
plain() {
	local text=${1//$tmp/DIR}
	echo "${text//$pid/PID}"
}
# offers LINE WORD [BREAKS]; offers_not LINE WORD
offers() {
	complete_line "$1" "${3-$breaks}" >"$tmp/offered"
	grep -qxFe "$2" "$tmp/offered"
	check $? "after '$(plain "$1")' completion offers $(plain "$2")" "$(head -n 5 "$tmp/offered" | tr '\n' ' ')"
}
offers_not() {
	complete_line "$1" >"$tmp/offered"
	! grep -qxFe "$2" "$tmp/offered"
	check $? "after '$(plain "$1")' completion does not offer $(plain "$2")" "it does"
}
mkdir "$tmp/a dir"
touch "$tmp/a file"

offers 'profile --fre' --frequency
offers_not 'profile --fre' --folded
offers 'profile -' -p
offers 'profile -' --max-depth
offers_not 'profile -' --print-man
offers "profile -p ${pid%?}" $pid
offers 'profile --pid 1' 1
offers 'profile --pid=' 1
offers 'profile --pid=' --pid=1 "${breaks/=/}"
offers 'profile -p 1,' 1,$pid
offers "profile -L " $pid
offers 'stackcount -p ' 1
offers 'profile -e cpu' cpu-clock
offers_not 'profile -e cpu' cycles
offers 'profile --event=task' task-clock
offers 'profile --format f' folded
offers 'profile --name ' "$(printf %q "$(cat /proc/$pid/comm)")"
offers "profile -o $tmp/a" "$tmp/a"\ file
offers "stackcount --cgroup $tmp/a" "$tmp/a"\ dir
offers_not "stackcount --cgroup $tmp/a" "$tmp/a"\ file
offers 'profile -F 99 -- base' basename
offers 'stackcount --hash' --hash-storage-size
offers_not 'profile 5' 5
offers_not 'profile -F 9' 99
offers 'stacktally pro' profile
offers_not 'stacktally pro' stackcount
offers 'stacktally --v' --version
offers 'stacktally help ' stackcount
offers 'stacktally profile --fre' --frequency
offers 'stacktally profile -e cpu' cpu-clock
offers 'stacktally stackcount --hash' --hash-storage-size
offers 'stacktally profile -F 99 -- base' basename
# Where tracefs is not mounted, mount it in a mount namespace of our own.
mount_tracefs='mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"'
if [ ! -r /sys/kernel/tracing/available_events ] &&
	unshare -m sh -c "$mount_tracefs" sh true 2>"$tmp/null"; then
	in_namespace=(unshare -m sh -c "$mount_tracefs" sh)
fi
if "${in_namespace[@]}" test -r /sys/kernel/tracing/available_events; then
	offers 'stackcount t:sched:sched_sw' sched_switch
	offers 'stackcount t:sched:sched_sw' t:sched:sched_switch "${breaks/:/}"
	offers_not 'stackcount t:sched:sched_sw' sched_wakeup
	in_namespace=()
else
	echo "skip completion offers tracepoints: available_events is not readable"
fi

# shellcheck disable=SC2016
# A process can have any name. The shell into which it is inserted must not execute it.
mkfifo "$tmp/ready" "$tmp/go"
bash -c 'printf "x;\`id\`" >/proc/self/comm; echo >"$1"; read -r _ <"$2"' x "$tmp/ready" "$tmp/go" &
read -r _ <"$tmp/ready"
# shellcheck disable=SC2016
offers 'profile --name x' 'x\;\`id\`'
echo >"$tmp/go"
wait

# ---- documents
cd "$top" || exit 1
grep -rhoE '\bdocs/[a-z]+\.(md|[18]|png|svg)' src README.md ARCHITECTURE.md CONTRIBUTING.md docs | sort -u >"$tmp/named"
missing=$(while read -r document; do [ -e "$document" ] || echo "$document"; done <"$tmp/named")
[ "$(wc -l <"$tmp/named")" -gt 5 ] && [ -z "$missing" ]
check $? "each document that is mentioned exists" "of $(wc -l <"$tmp/named"): $missing"

# Each member of our JSON is described in its document.
untold=$(python3 - "$top" <<'END'
import glob, json, sys
told = open(sys.argv[1] + "/docs/json.md").read()
def members(value, names=True):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from [name] if names else []
            yield from members(inner, name != "ends")  # its members are reasons
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner)
found = set()
for path in glob.glob(sys.argv[1] + "/tests/golden/expected/*-json*.txt"):
    text = open(path).read()  # warnings may come first
    found |= set(members(json.JSONDecoder().raw_decode(text[text.index("{"):])[0]))
print(*(["nothing was read"] if len(found) < 40 else
        sorted(name for name in found if f"`{name}`" not in told)))
END
)
[ $? -eq 0 ] && [ -z "$untold" ]
check $? "docs/json.md describes every member" "$untold"

exit $failed
