# SPDX-License-Identifier: GPL-2.0-or-later
# Text, hashes, sorting and regular expressions, for ever.
use strict;
use warnings;
use List::Util qw(sum max);
use Digest::SHA qw(sha1_hex);

while (1) {
	my %count;
	my $text = join ' ', map { "word" . ($_ * 7919 % 997) } 1 .. 5000;

	$count{$1}++ while $text =~ /(\w+)\b/g;
	my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
	(my $other = $text) =~ s/word(\d+)/sprintf("%04d", $1)/ge;
	my $digest = sha1_hex($other);
	my $sum = sum(map { length } @words) + max(values %count);
}
