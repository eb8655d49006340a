# SPDX-License-Identifier: GPL-2.0-or-later
# busy.pl MODE N: as busy.py
use strict;
use warnings;
my $asks = $ARGV[0] eq "ask";
sub clock { (times)[0] }
sub leaf {
	my $n = shift;
	my $total = 0;
	for (my $i = 0; $i < $n; $i++) { $total += $i * $i % 7 }
	getppid() if $asks;
	return $total;
}
sub key {
	my $total = 0;
	for (my $i = 0; $i < 60; $i++) { $total += $a ^ $i }
	getppid() if $asks;
	return $a <=> $b;
}
sub render { my $total = leaf($_[0]); return $total }
sub order { my @items = sort { my $is = key(); $is } 1 .. ($asks ? 2 : $_[0]); return \@items }
sub handle { render(600); my $items = order(10); return $items }
sub run {
	my $n = shift;
	my $end = clock() + $n;
	for (my $done = 0; $asks ? $done < $n : clock() < $end; $done++) { handle() }
	return;
}
sub main { run($ARGV[1]); return }
$| = 1;
print "ready $$\n";
<STDIN>;
main();
