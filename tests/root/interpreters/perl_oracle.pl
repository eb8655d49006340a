# SPDX-License-Identifier: GPL-2.0-or-later
# Calls getppid() from stacks of all kinds, and writes its own account of them: perl perl_oracle.pl FILE [lines].
# Each line is as in a folded report with the functions of the program only, and with `lines` as in one with
# --lines, but the directories.
package App;
use strict;
use warnings;
no warnings qw(recursion once redefine void);
use List::Util qw(first reduce any sum);
use File::Basename qw(dirname);
use Scalar::Util qw(weaken);

my $have_threads = eval { require threads };
our %account;
our $Main = 1;

# The stack as caller() tells it, outermost first, and the line in probe(). Of evals, those of texts and of
# files are functions here.
sub account_of
{
	my $line = shift;
	my @names;
	for (my $i = 1; my @call = caller $i; $i++) {
		my ($file, $called_at, $name, $text, $required) = @call[1, 2, 3, 6, 7];
		if ($name ne '(eval)') {
			push @names, show($name, file_of(\@call), $line);
		} elsif ($required) {
			push @names, show('{require}', $text =~ s{.*/}{}r, $line);
		} elsif (defined $text) {
			push @names, show('{eval}', short($file), $line);
		} else {
			next;
		}
		$line = $called_at;
	}
	return join ';', ($Main ? show('{main}', 'perl_oracle.pl', $line) : ()), reverse @names;
}

sub show
{
	my ($name, $file, $line) = @_;
	return "$name ($file)" . (($ARGV[1] // '') eq 'lines' ? " ($file:$line)" : '');
}

sub short { my $file = shift; return $file =~ /^\(eval / ? 'eval' : $file =~ s{.*/}{}r }

# The file that a sub was compiled in: told by its name here.
our %file_of = (probe => 'perl_oracle.pl');
sub file_of { my $name = $_[0][3]; return $file_of{$name} // 'perl_oracle.pl' }

sub probe
{
	getppid(); $account{account_of(__LINE__)}++; # on the same line
	return 1;
}

sub recurse { my $n = shift; $n ? recurse($n - 1) : probe() }
sub deep { my $n = shift; for my $each (1) { { deep($n - 1) if $n; } } probe() unless $n }

package Base {
	sub new { my $class = shift; App::probe(); return bless {@_}, $class }
	sub method { App::probe(); return $_[0] }
	our $AUTOLOAD;
	sub AUTOLOAD { App::probe(); my $name = $AUTOLOAD; return if $name =~ /late$/; goto &{$_[0]->can('method')} if $name =~ /gone$/; return $_[0]{lc $name} }
	sub DESTROY { App::probe(); eval { die 1 }; App::probe(); eval { App::probe() } }
}

package Derived {
	our @ISA = ('Base');
	sub method { my $it = shift; $it->SUPER::method; App::probe(); return $it->SUPER::method }
	use overload '+' => sub { App::probe(); 1 }, '""' => sub { App::probe(); 'text' }, 'bool' => \&truth,
		'<=>' => 'compare', '@{}' => sub { App::probe(); [1, 2] }, '&{}' => sub { sub { App::probe() } };
	sub truth { eval { App::probe() }; App::probe(); eval q{App::probe()}; App::after(); 1 }
	sub compare { App::probe(); 0 }
}

package Tied {
	sub TIESCALAR { bless [], shift }
	sub FETCH { App::probe(); eval { App::probe(); die 'x' }; App::probe(); App::after(); eval { eval { App::probe() }; App::probe() }; 5 }
	sub STORE { App::recurse(2) }
	sub TIEHASH { bless {}, shift }
	sub FIRSTKEY { App::probe(); 'a' }
	sub NEXTKEY { App::probe(); undef }
	sub EXISTS { App::probe(); 1 }
	sub TIEHANDLE { bless {}, shift }
	sub PRINT { App::probe(); 1 }
	sub CLEAR { }
}

package TiedHash { our @ISA = ('Tied'); sub FETCH { App::probe(); $_[1] } sub STORE { App::probe() } }

package App;

sub methods
{
	{
		my $it = Derived->new(name => 1);
		$it->method;
		$it->unknown;
		$it->gone;
		my $name = 'method';
		$it->$name;
		my $x = $it + 1;
		$x = "$it";
		$x = $it ? 1 : 0;
		$x = $it->[0];
		$it->();
		my @sorted = sort { $a <=> $b } $it, Derived->new;
	}
	my $cycle = Base->new;
	$cycle->can('method')->($cycle);
	undef $cycle;
}

sub closures
{
	my $n = shift;
	my $outer = sub { my $x = shift; return sub { probe(); $n + $x } };
	$outer->(1)->();
	$_->() for map { my $y = $_; sub { recurse($y) } } 1 .. 3;
	my @all = map { probe(); $_ } grep { probe() } 1, 2;
	my $again;
	$again = sub { $_[0] ? $again->($_[0] - 1) : probe() };
	$again->(3);
	(sub { &probe })->();
	local *renamed = sub { probe() };
	renamed();
	my sub lexical { probe(); }
	lexical();
}

sub prototyped(&@) { my $code = shift; $code->($_) for @_; 1 }
sub by_after { eval { probe() }; probe(); eval { recurse(1) }; after() if $a == 1; $a <=> $b }
sub by_number { probe(); $a <=> $b }
sub by_args($$) { probe(); $_[0] <=> $_[1] }
sub by_deep { eval { probe(); eval { recurse(1) }; die }; $b <=> $a }

sub sorts
{
	my @it = sort { probe(); $a <=> $b } 3, 1, 2;
	@it = sort by_number 3, 1, 2, 5;
	@it = sort by_args 3, 1, 2;
	@it = sort by_deep 3, 1, 2;
	@it = sort by_after 2, 1, 3;
	my $by = sub { recurse(1); $a <=> $b };
	@it = sort $by 3, 1, 2;
	@it = sort { by_number() } 2, 1, 3;
	@it = sort { my @inner = sort { probe(); $b <=> $a } 2, 1; $a <=> $b } 3, 1, 2;
	@it = sort { eval { probe(); by_number() } } 2, 1, 3;
	@it = sort { &{sub { by_number() }} } 2, 1, 3;
	@it = sort { first { probe() } 2, 1 } 2, 1, 3;
	@it = sort { prototyped { probe() } 2 } 2, 1;
	@it = reverse sort { eval { probe() }; $a <=> $b } 1, 2, 3;
	my $first = first { probe(); $_ == 3 } 1, 2, 3;
	$first = first { eval { probe() }; $_ == 3 } 1, 2, 3;
	my $sum = reduce { probe(); recurse(1); $a + $b } 1, 2, 3;
	any { recurse($_); 0 } 1, 2;
	first { any { probe(); 0 } 1, 2 } 1, 2;
}

sub exceptions
{
	eval { probe(); eval { probe(); die "inner\n" }; probe(); recurse(2) };
	local $SIG{__DIE__} = sub { probe() };
	local $SIG{__WARN__} = sub { recurse(1) };
	eval { die "handled\n" };
	warn "warned\n";
	eval { my $x = 1; $x = $x / ($x - 1) };
	eval { recurse(2); die { code => 5 } } or probe();
	my $x = '1x' + 1;
	return;
}

sub texts
{
	eval 'probe(); recurse(1); 1' or die $@;
	eval 'sub made { probe() } made(); eval q{made(); probe()}; 1' or die $@;
	eval "BEGIN { App::probe() } probe(); 1" or die $@;
	eval 'die' for 1, 2;
	eval { eval 'probe(); die "out"'; probe(); 1 } or die $@;
	eval 'use strict; sort { probe(); $a <=> $b } 2, 1;' or 1;
	require AppModule;
	AppModule::work();
	AppModule->import(1);
	do './AppDone.pl' or die "$@ $!";
}

sub ties
{
	tie my $scalar, 'Tied';
	my $x = $scalar + 1;
	$scalar = 2;
	tie my %hash, 'TiedHash';
	$x = $hash{a};
	$hash{b} = 1;
	$x = exists $hash{c};
	my @keys = keys %hash;
	tie *HANDLE, 'Tied';
	print HANDLE "x";
	local $ENV{X};
}

sub patterns
{
	my $text = 'a1b2';
	$text =~ s/(\d)/probe(); recurse(1); $1 + 1/ge;
	our $seen = 0;
	'aab' =~ /a(?{ probe(); $seen++ })b/;
	'aab' =~ /a(?{ probe() })b/;
	'aab' =~ /a(?{ eval { probe() } })b/;
	'aab' =~ /a(?{ local $a = 1; recurse(1) })b/;
	'xy' =~ /x(??{ probe(); 'y' })/;
	my @all = map { probe(); split /,/ } 'a,b';
}

sub gone { goto &recurse }
sub gone_xs { local $_ = 1; goto &List::Util::sum }

sub jumps
{
	gone(2);
	gone_xs(1, 2);
	for my $x (1 .. 3) { probe(); next if $x == 1; last }
	while (1) { recurse(1); last }
	my @list = do { probe(); (1, 2) };
	my ($y) = scalar(recurse(1)) ? wantarray : 0;
	local $_;
	foreach (1, 2) { if ($_ == 2) { unless (0) { { probe() } } } }
}

sub signals
{
	local $SIG{USR1} = sub { probe(); eval { recurse(1) } };
	kill USR1 => $$;
	select undef, undef, undef, 0.01;
	local $SIG{ALRM} = 'App::recurse_once';
	kill ALRM => $$;
	select undef, undef, undef, 0.01;
}
sub after { eval { recurse(1) }; my @it = sort { probe(); eval { probe() }; probe(); $a <=> $b } 2, 1; return eval q{probe()} }
sub recurse_once { recurse(1) }

sub lvalue :lvalue { probe(); my $x }


sub others
{
	lvalue() = 1;
	prototyped { probe(); recurse(1) } 1, 2;
	my $it = bless [], 'Stringy';
	use constant PI => 3;
	my $text = sprintf '%s', join ',', map { sub { probe(); $_[0] }->($_) } 1, 2;
	{
		no strict 'refs';
		*{'App::alias'} = \&recurse;
		&{'App::alias'}(1);
		my $name = 'App::recurse';
		&$name(1);
	}
	{
		package Elsewhere;
		sub here { App::probe() }
		sub App::there { App::probe() }
		here();
		App::there();
	}
}

sub everything
{
	$_->(2) for \&methods, \&closures, \&sorts, \&exceptions, \&texts, \&ties, \&patterns, \&jumps,
		\&others, $Main ? \&signals : ();
}

chdir dirname($0);
unshift @INC, '.';
open my $module, '>', 'AppModule.pm' or die;
print $module 'package AppModule; App::probe(); sub work { App::probe(); App::recurse(1) } '
	. 'sub import { App::probe() } BEGIN { App::recurse(1) } App::closures(1); eval { App::probe() }; eval q{App::probe()}; 1;';
close $module;
open my $done, '>', 'AppDone.pl' or die;
print $done 'App::probe(); sub App::done { App::probe() } done(); 1;';
close $done;
%file_of = ('AppModule::work' => 'AppModule.pm', 'AppModule::import' => 'AppModule.pm',
	'AppModule::BEGIN' => 'AppModule.pm', 'App::done' => 'AppDone.pl', 'App::made' => 'eval',
	'App::BEGIN' => 'eval');

$SIG{__WARN__} = sub { };
open STDERR, '>', '/dev/null';
select undef, undef, undef, 0.8; # until the libraries have their tables
probe();
recurse($_) for 0 .. 20;
recurse(900);
deep(200);
everything();
END { $Main = 0; probe(); Base->new; write_account($ARGV[0]) unless $App::child }

# A child, and a thread: each has an account of its own.
sub write_account
{
	open my $out, '>>', $_[0] or die "$_[0]: $!";
	print $out map { "$_ $account{$_}\n" } sort keys %account;
	close $out;
	%account = ();
}

write_account($ARGV[0]);
my $pid = fork // die;
if (!$pid) {
	everything();
	write_account($ARGV[0]);
	$App::child = 1;
	require POSIX;
	POSIX::_exit(0);
}
waitpid $pid, 0;
if ($have_threads) {
	%account = ();
	my @threads = map { threads->create(sub { $Main = 0; recurse(2); everything() if $_[0] == 1; write_account($ARGV[0]) }, $_) } 1, 2;
	$_->join for @threads;
}
