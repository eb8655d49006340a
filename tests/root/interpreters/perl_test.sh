#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Perl programs, against the programs' own accounts: perl_test.sh BUILD
# timeout: 300
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "functions of Perl programs" "$no_uprobes"
	finish
}

# oracle NAME LIBC PLACE COMMAND...: runs the oracle's copy in PLACE, and compares
oracle() {
	mkdir -p "$3"
	cp "$here/perl_oracle.pl" "$3"
	rm -f "$3/account"
	count -f "$2:getppid" -- "${@:4}" "${3#"$root"}/perl_oracle.pl" "${3#"$root"}/account"
	equal "$1: functions and counts are the program's own" "$3/account"
	grep -q 'sort.*by_deep.*recurse' "$3/account"
	check $? "$1: the account is whole" "$(wc -l <"$3/account") lines"
	rm -f "$3/account"
	count -f --lines "$2:getppid" -- "${@:4}" "${3#"$root"}/perl_oracle.pl" "${3#"$root"}/account" lines
	equal_lines "$1: and so are the lines" "$3/account"
}

# Those of Debian's releases in file systems of their own, and the one that is installed.
root=
for of in $(releases bookworm:5.36 trixie:5.40); do
	if root=$("$here/../../root_of" "${of%:*}" perl 2>"$err"); then
		oracle "${of%:*}'s Perl ${of#*:}" "$(ls "$root"/lib/*-linux-gnu/libc.so.6)" "$root/tmp/oracle" \
			chroot "$root" /usr/bin/perl
	else
		skip "${of%:*}'s Perl ${of#*:}" "$(tail -n 1 "$err")"
	fi
done
root=
perl=/usr/bin/perl
if ! "$perl" -e 'exit !($] >= 5.036 && $] < 5.037 || $] >= 5.040 && $] < 5.041)' 2>>"$fate"; then
	skip "order, forged structures, samples" "no $perl of 5.36 or 5.40"
	finish
fi
oracle "$perl" c "$tmp/oracle" "$perl"

# Order: native frames of the C code between functions stay.
cat >"$tmp/order.pl" <<'S'
$| = 1;
print "ready $$\n";
<STDIN>;
sub by_key { getppid(); $a <=> $b }
sub outer { my @it = sort by_key 2, 1 }
outer();
S
count_ready -f c:getppid -- "$perl" "$tmp/order.pl"
has "native frames are in their places" \
	';perl_run;[{]main[}] \(order\.pl\);main::outer \(order\.pl\);Perl_pp_sort;[^()]*;main::by_key \(order\.pl\);Perl_pp_getppid;getppid$'
lacks "the evaluator's frames are not shown" 'Perl_runops_standard'
count_ready -f --native c:getppid -- "$perl" "$tmp/order.pl"
has "--native shows them, too" \
	';Perl_runops_standard;[{]main[}] \(order\.pl\);main::outer \(order\.pl\);.*;Perl_runops_standard;main::by_key \(order\.pl\);'
count -o "$tmp/r.stacktally" -o "$tmp/r.folded" c:getppid -- "$perl" "$tmp/order.pl"
count -f --from "$tmp/r.stacktally"
cmp -s "$tmp/r.folded" "$out" && grep -q 'by_key (order\.pl)' "$out"
check $? "a recording keeps them" "$(diff "$tmp/r.folded" "$out" | head -n 2 | cut -c 1-300) $(tail -n 1 "$err")"

# A program with Perl in it.
headers=$(echo /usr/lib/*-linux-gnu/perl/5.*.*/CORE)
library=$(echo /usr/lib/*-linux-gnu/libperl.so.5.??)
if [ -e "$headers/perl.h" ] && gcc -w -D_GNU_SOURCE -D_REENTRANT -I "$headers" -o "$tmp/embedded" \
	"$here/perl_embedded.c" "$library" 2>"$err"; then
	cat >"$tmp/handler.pl" <<'S'
package Handler;
sub handle { inner(); eval { inner() }; my @it = sort { inner(); $a <=> $b } 2, 1; inner() }
sub inner { getppid() }
$| = 1;
print "ready $$\n";
<STDIN>;
handle();
S
	count_ready -f c:getppid -- "$tmp/embedded" "$tmp/handler.pl"
	is "embedded: what the file does" \
		"$(counted ';perl_run;[{]main[}] \(handler\.pl\);Handler::handle \(handler\.pl\);.*Handler::inner \(handler\.pl\);[^()]*getppid$')" 4
	is "embedded: what C code calls" \
		"$(counted ';main;Perl_call_sv;[^()]*Handler::handle \(handler\.pl\);[^{}]*Handler::inner \(handler\.pl\);[^()]*getppid$')" 12
else
	skip "a program with Perl in it" "no headers or library of Perl: $(tail -n 1 "$err")"
fi

# Structures that are bent: the walk ends, says why, and native frames go on.
cp "$here/perl_forged.pl" "$tmp"
count -f c:getppid -- "$perl" "$tmp/perl_forged.pl"
is "a circle of stacks is followed for a while only" \
	"$(counted 'perl_run;\[perl: unmatched\];Perl_pp_sort;.*;\[perl: unmatched\];Perl_pp_getppid;getppid$')" 1
is "contexts are followed for a while only" "$(counted 'Perl_runops_standard;\[perl: too deep\];Perl_pp_getppid;getppid$')" 1
is "where wild pointers lead is not read" "$(counted 'Perl_runops_standard;\[perl: unreadable\];.*Perl_pp_getppid;getppid$')" 7
is "a long name is cut" "$(counted ';Long::nnnnnnnnnn[^ ]*[^n(]*\(perl_forged\.pl\);Perl_pp_getppid;getppid$')" 1
is "a name is no order to a terminal" "$(counted ';Escape::[^\x1b;]*\[2J[^\x1b;]*next:line \(perl_forged\.pl\);Perl_pp_getppid;getppid$')" 1
is "the structures are whole again" "$(counted ';[{]main[}] \(perl_forged\.pl\);main::whole \(perl_forged\.pl\);[^()]*getppid$')" 1

# Samples: nearly all have functions.
cat >"$tmp/busy.pl" <<'S'
use strict;
use List::Util qw(first reduce);
package Order { sub new { bless {}, shift } sub compare { $_[1] <=> $_[2] } use overload '+' => sub { $_[0] }; sub DESTROY { $main::gone++ } }
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub lookup { my ($vars, $name) = @_; return eval { $vars->{$name} // die "missing\n" } // '' }
sub work {
	my $order = Order->new;
	until ((times)[0] > $_[0]) {
		my @a = sort { $order->compare($a, $b) } map { $_ * 7 % 31 } 1 .. 50;
		fib(10);
		(my $text = 'Hello {name}, {missing}' x 10) =~ s/\{(\w+)\}/lookup({name => 1}, $1)/ge;
		my $f = first { $_ > 40 } 1 .. 50;
		my $r = reduce { $a + $b } 1 .. 50;
		my $o = Order->new + 1;
		eval "1 + $f";
	}
}
$| = 1;
print "ready $$\n";
<STDIN>;
work((times)[0] + ($ARGV[0] // 1.5));
S
sample_ready -F 499 -U -o "$tmp/busy.svg" -- "$perl" "$tmp/busy.pl"
work=$(counted '[{]main[}] \(busy\.pl\);main::work \(busy\.pl\)')
ran=$(counted ';perl_run;')
calculates "$ran > 100 && $work > 0.97 * $ran"
check $? "samples have functions" "$work of $ran"
# Of a probed instruction the kernel executes a copy, where samples are then: they have functions, too.
begin_ready "$perl" "$tmp/busy.pl" 0.2 && attach -p "$pid" c:free && sample -p "$pid" -F 499
let_go
sampled
detach
has "samples in the copy of a probed instruction have functions" \
	'main::work \(busy\.pl\);.*;free;asm_exc_debug;|main::work \(busy\.pl\);.*;free;.*uprobe'
work=$(counted '[{]main[}] \(busy\.pl\);main::work \(busy\.pl\)')
ran=$(counted ';perl_run;')
calculates "$ran > 100 && $work > 0.97 * $ran"
check $? "... all of them" "$work of $ran"
grep -q '>Perl</text>' "$tmp/busy.svg"
check $? "a picture tells Perl's functions from others" "$(grep -o 'id="legend".*' "$tmp/busy.svg" | cut -c 1-300)"
finish
