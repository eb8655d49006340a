#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Ruby programs, against the programs' own accounts: ruby_test.sh BUILD
# timeout: 300
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "functions of Ruby programs" "$no_uprobes"
	finish
}

# in_release RELEASE [PACKAGE]: sets $root to a file system with Ruby, and $libc
in_release() {
	root=$("$here/../../root_of" "$1" "${2-ruby}" 2>"$err") || return
	mkdir -p "$root/tmp"
	libc=$(ls "$root"/lib/*-linux-gnu/libc.so.6)
}

# without_classes: the report as Ruby's own labels have functions up to 3.3
without_classes() {
	sed -E -i 's/(^|;| in )([A-Z][A-Za-z0-9_]*(::[A-Z][A-Za-z0-9_]*)*[#.])/\1/g' "$out"
}

# Classes: ruby_classes.txt has what 3.4 writes of ruby_classes.rb by its own labels.
LC_ALL=C sort "$here/ruby_classes.txt" >"$tmp/classes"
for of in $(releases bookworm:ruby bullseye:ruby trixie:ruby experimental:ruby3.4); do
	package=${of#*:} of=${of%:*}
	if in_release "$of" "$package"; then
		cp "$here/ruby_classes.rb" "$root/tmp"
		count_ready -f "$libc:getppid" -- chroot "$root" "/usr/bin/$package" --disable-gems \
			/tmp/ruby_classes.rb /tmp/account
		functions "$out" | sed -E 's/[^;]* \(<internal:[^;]*;//g' >"$tmp/seen"
		cmp -s "$tmp/seen" "$tmp/classes"
		check $? "$of's Ruby: methods have their classes" \
			"$(diff "$tmp/classes" "$tmp/seen" | grep '^[<>]' | head -n 4 | cut -c 1-300)"
		[ "$package" = ruby ] && continue
		LC_ALL=C sort "$root/tmp/account" | uniq -c | sed -E 's/ *([0-9]+) (.*)/\2 \1/' | cmp -s - "$tmp/classes"
		check $? "$of's Ruby: they are those of its own labels"
	else
		skip "$of's Ruby: classes" "$(tail -n 1 "$err")"
	fi
done

for of in $(releases bookworm:3.1 trixie:3.3); do
	if in_release "${of%:*}"; then
		cp "$here/ruby_oracle.rb" "$root/tmp"
		rm -f "$root/tmp/account"*
		count_ready --children -f "$libc:getppid" -- chroot "$root" /usr/bin/ruby --disable-gems \
			/tmp/ruby_oracle.rb /tmp/account
		without_classes
		equal "${of%:*}'s Ruby ${of#*:}: functions and counts are the program's own" \
			"$root/tmp/account"
		rm -f "$root/tmp/account"*
		count_ready --children -f --lines "$libc:getppid" -- chroot "$root" /usr/bin/ruby --disable-gems \
			/tmp/ruby_oracle.rb /tmp/account lines
		without_classes
		equal_lines "${of%:*}'s Ruby ${of#*:}: and so are the lines" "$root/tmp/account"
	else
		skip "${of%:*}'s Ruby ${of#*:}" "$(tail -n 1 "$err")"
	fi
done

in_release bookworm || {
	skip "order, forged structures, samples" "$(tail -n 1 "$err")"
	finish
}
ruby=(chroot "$root" /usr/bin/ruby --disable-gems)

# Generated code has no frames on the C stack: its functions are those of the run that it belongs to.
rm -f "$root/tmp/account"*
count_ready --children -f "$libc:getppid" -- "${ruby[@]}" --yjit --yjit-call-threshold=2 \
	/tmp/ruby_oracle.rb /tmp/account
without_classes
equal "with YJIT: functions and counts are the program's own" "$root/tmp/account"

# Order: native frames of the C code between functions stay.
cat >"$root/tmp/order.rb" <<'S'
$stdout.sync = true
puts "ready #{$$}"
gets
def leaf = Process.ppid
def outer = [2, 1].sort_by { |x| leaf; x }
outer
S
count_ready -f "$libc:getppid" -- "${ruby[@]}" /tmp/order.rb
has "native frames are in their places" \
	';<main> \(order\.rb\);Object#outer \(order\.rb\);[^()]*;rb_ary_each;[^()]*;block in Object#outer \(order\.rb\);Object#leaf \(order\.rb\);[^()]*getppid$'
evaluator=$(sed -n 's/.*;rb_vm_exec;block in Object#outer (order.rb);Object#leaf (order.rb);.*/&/p' "$out" | wc -l)
is "the evaluator's frames are not shown" "$evaluator" 1
count_ready -f --native "$libc:getppid" -- "${ruby[@]}" /tmp/order.rb
has "--native shows them, too" \
	';rb_vm_exec;\[libruby[^;()]*\];<main> \(order\.rb\);Object#outer \(order\.rb\);.*;rb_vm_exec;\[libruby[^;()]*\];block in Object#outer '

# A fiber's stack begins where the fiber does.
cat >"$root/tmp/fiber.rb" <<'S'
$stdout.sync = true
puts "ready #{$$}"
gets
def work = Process.ppid
Fiber.new { work }.resume
S
count_ready -f "$libc:getppid" -- "${ruby[@]}" /tmp/fiber.rb
is "a fiber's stack is whole" \
	"$(counted ';\[unwind: a fiber began\];[^()]*block in <main> \(fiber\.rb\);Object#work \(fiber\.rb\);[^()]*getppid$')" 1

# Structures that are bent: the walk ends, says why, and native frames go on.
cp "$here/ruby_forged.rb" "$root/tmp"
count_ready -f "$libc:getppid" -- "${ruby[@]}" /tmp/ruby_forged.rb
is "a circle is followed for a while only" "$(counted 'rb_vm_exec;[^;]*;\[ruby: too deep\];[^()]*;getppid$')" 1
is "where a wild pointer leads is not read" "$(counted 'rb_vm_exec;[^;]*;\[ruby: unreadable\];[^()]*;getppid$')" 6
is "functions that end nowhere are torn" "$(counted 'rb_vm_exec;[^;]*;\[ruby: torn\];[^()]*;getppid$')" 1
is "where a class's name cannot be read, the function has none" \
	"$(counted ';<main> \(ruby_forged\.rb\);(wild_class|wild_variables_of_class|endless_variables|wild_name) \(ruby_forged\.rb\);bend \(ruby_forged\.rb\);[^()]*getppid$')" 4
is "the structures are whole again" "$(counted ';<main> \(ruby_forged\.rb\);Object#whole \(ruby_forged\.rb\);[^()]*getppid$')" 1
is "a name of 400,000 bytes is cut" "$(counted ';<main> \(ruby_forged\.rb\);Object#(long)+(l|lo|lon)?… \(long\.rb\);[^()]*getppid$')" 1
is "a terminal is not written to" "$(counted ';Object#escapes \(\?\[31mred\.rb\);[^()]*getppid$')" 1

# Samples: nearly all have functions.
cat >"$root/tmp/busy.rb" <<'S'
class Order
  def <=>(other) = 0
  include Comparable
end
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
def work(till)
  orders = Array.new(50) { Order.new }
  while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < till
    orders.sort
    fib(10)
    "a1b2c3".gsub(/\d/) { "x" }
  end
end
$stdout.puts "ready #{Process.pid}"
$stdout.flush
gets
work(Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + 2)
S
sample_ready -F 499 -U -o "$tmp/busy.svg" -- "${ruby[@]}" /tmp/busy.rb
work=$(counted '<main> \(busy\.rb\);Object#work \(busy\.rb\)')
ran=$(counted ';ruby_run_node;[^;]*;rb_vm_exec;')
calculates "$ran > 100 && $work > 0.9 * $ran"
check $? "samples have functions" "$work of $ran"
sample_ready -F 499 -U -- "${ruby[@]}" --yjit /tmp/busy.rb
yjit_ran=$(counted ';ruby_run_node;')
yjit_work=$(counted '<main> \(busy\.rb\);Object#work \(busy\.rb\)')
cut=$(counted '\[unwind: ')
calculates "$yjit_ran > 100 && $yjit_work > 0.97 * $yjit_ran && $cut < 0.01 * $yjit_ran"
check $? "samples of generated code have functions, and their stacks are whole" \
	"$yjit_work of $yjit_ran, $cut cut"
grep -q '>Ruby</text>' "$tmp/busy.svg"
check $? "a picture tells Ruby's functions from others" "$(grep -o 'id="legend".*' "$tmp/busy.svg" | cut -c 1-300)"
finish
