#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Short programs that a wrapper runs have their functions from the first call on, from Linux 5.17 on:
# short_programs_test.sh BUILD
# timeout: 60
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
event=t:syscalls:sys_enter_getppid
if [ "$(printf '%s\n' 5.17 "$(uname -r)" | sort -V | head -n 1)" != 5.17 ]; then
	skip "short programs behind wrappers" "a kernel before 5.17"
	finish
fi
cat >"$tmp/x.pl" <<'S'
sub inner { getppid() }
sub outer { inner() }
sub main { outer() for 1 .. 200 }
main();
S
cat >"$tmp/x.py" <<'S'
import os
def inner(): os.getppid()
def outer(): inner()
def main():
    for i in range(200): outer()
main()
S
cat >"$tmp/x.php" <<'S'
<?php
function inner() { sleep(0); }
function outer() { inner(); }
function main() { for ($i = 0; $i < 200; $i++) outer(); }
main();
S
cp "$tmp/x.pl" "$tmp/script"
sed -i '1i #!/usr/bin/env perl' "$tmp/script"
chmod +x "$tmp/script"

# whole NAME EVENT COMMAND...: all of the 200 calls have the three functions
whole() {
	count -f "$2" -- "${@:3}"
	local few all
	few=$(counted 'main \(.*;outer \(.*;inner \(|main::main \(.*;main::outer \(.*;main::inner \(')
	all=$(counted '(outer|inner|: not known yet|\[unwind: )')
	[ "$few" -ge 190 ] && [ "$all" -eq 200 ] # the kernel does not answer while somebody changes its mappings
	check $? "$1" "$few of $all: $(hottest) $(tail -n 1 "$err")"
}
for it in "perl /usr/bin/perl x.pl $event" "python /usr/bin/python3 x.py $event" \
	"PHP /usr/bin/php x.php t:syscalls:sys_enter_clock_nanosleep"; do
	read -r name program file of <<<"$it"
	if [ ! -x "$program" ]; then
		skip "$name behind wrappers" "no $program"
		continue
	fi
	whole "$name behind env" "$of" env "$program" "$tmp/$file"
	whole "$name in a shell's command line" "$of" bash -c "true; ${program##*/} $tmp/$file; true"
done
[ -x /usr/bin/perl ] && whole "a script that env finds the interpreter of" "$event" "$tmp/script"
finish
