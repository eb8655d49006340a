# SPDX-License-Identifier: GPL-2.0-or-later
# Calls getppid() while the interpreter's own structures are bent, as a hostile program could: perl perl_forged.pl.
# Each change is made, used and taken back in one statement: between statements Perl itself reads them.
use strict;
use warnings;
no warnings qw(void portable);
require DynaLoader;
require Sub::Util;

# Of Perl 5.36 and 5.40 with threads.
use constant { STACKINFO => 224, CONTEXTS => 8, PREVIOUS => 16, TOP => 32, CONTEXT => 104, SUB => 72 };

open our $memory, '+<:raw', '/proc/self/mem' or die "/proc/self/mem: $!";

sub get
{
	my ($at, $size) = @_;
	sysseek $memory, $at, 0 or die "seek: $!";
	sysread($memory, my $bytes, $size) == $size or die "read: $!";
	return $bytes;
}
sub word { return unpack 'Q', get($_[0], 8) }

my $state = word(DynaLoader::dl_find_symbol(0, 'PL_curinterp')); # 0: of all that is loaded
our $stackinfo = word($state + STACKINFO);
our $contexts = word($stackinfo + CONTEXTS);

sub bend
{
	our ($at, $new) = @_;
	sysseek $memory, $at, 0;
	sysread $memory, our $old, length $new; # here: in get() there is another context
	sysseek($memory, $at, 0), syswrite($memory, $new), getppid(), sysseek($memory, $at, 0), syswrite($memory, $old);
}

# In a stack of contexts of its own: that of a sort().
sub in_sort { my $change = shift; my @it = sort { $change->(word($state + STACKINFO)); 0 } 1, 2; }

sub whole { getppid() }

select undef, undef, undef, 0.3; # until the libraries have their tables
my $room = pack 'C x103', 2;                   # the context of a block ...
our $many = $room x 5000;                      # ... and as many as are not followed
my $buffer = unpack 'Q', pack 'p', $many;

in_sort(sub { bend($_[0] + PREVIOUS, pack 'Q', $_[0]) });                      # a circle
in_sort(sub { bend($_[0] + PREVIOUS, pack 'Q', 0x123456789abc) });             # nowhere
bend($stackinfo + CONTEXTS, pack 'Q', 0x123456789abc);                         # nowhere
bend($stackinfo + TOP, pack 'l', 2**31 - 1);                                   # far behind the end
bend($stackinfo + TOP, pack 'l', -2);                                         # before the beginning
bend($stackinfo + CONTEXTS, pack('Q', $buffer) . get($stackinfo + CONTEXTS + 8, 16) . pack 'l', 4999); # endless
sub inner { bend($contexts + CONTEXT + SUB, pack 'Q', $_[0]) }
inner(0x123456789abc);                                                         # no sub
inner(0);
inner($state);                                                                 # no sub, but memory

# Names that nobody can read, or that a terminal would obey.
Sub::Util::set_subname('Long::' . 'n' x 100_000, sub { getppid() })->();
Sub::Util::set_subname("Escape::\e[2J\nnext;line", sub { getppid() })->();
whole();
