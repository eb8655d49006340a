#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names from all their sources: profile_names_test.sh BUILD
# timeout: 240
# kind: symbols
. "$(dirname "$0")/../harness.bash" "$1"
known=';main;outer;middle;inner;burn(;|$)'
unset BCC_SYMFS BCC_DEBUGINFO_ROOT DEBUGINFOD_URLS

# named NAME PROGRAM: the stacks of the program have names
named() {
	measure_command -F 499 -U -- "$2" $((200 * slow))
	named_work "$known"
	check $? "$1" "$(counted "$known") of $(total): $(hottest) $(tail -n 2 "$err")"
}
# unnamed NAME PROGRAM: it has stacks, but no names
unnamed() {
	local identity=";[[]${2##*/}[+]0x[0-9a-f]+[]]"
	measure_command -F 499 -- "$2" $((200 * slow))
	[ "$(total)" -gt 50 ] && [ "$(counted ';(outer|middle|inner|burn)(;|$)')" -eq 0 ] &&
		[ "$(counted "$identity$identity$identity")" -gt 50 ]
	check $? "$1" "$(hottest) $(tail -n 2 "$err")"
}

# ---- kinds of executables
named "a position independent program has its names" "$programs/nested"
named "a program at a fixed address has its names" "$programs/nested_no_pie"
named "a static program has its names" "$programs/nested_static"
named "a static position independent program has its names" "$programs/nested_static_pie"

# ---- what a signal's handler returns to: no call stands before it, so the byte before is another's
in_handler=';main;at_work;(.*;)?__restore_rt;handler;burn(;|$)'
in_handler() { # NAME PROGRAM
	measure_command -F 499 -U -- "$2" $((200 * slow))
	has "$1" "$in_handler"
	lacks "$1, and no other" ';[^;]*[+]0x[0-9a-f]+[]];handler;'
}
in_handler "the trampoline of signals has its name" "$programs/in_handler"
strip --keep-symbol=main --keep-symbol=at_work --keep-symbol=handler --keep-symbol=burn \
	-o "$tmp/few_names" "$programs/in_handler_static"
in_handler "it is known without a symbol" "$tmp/few_names"

# ---- stripped ones
strip -o "$tmp/stripped" "$programs/nested"
unnamed "a stripped program has no names, and gets no wrong ones" "$tmp/stripped"
for function in main outer middle inner burn; do
	start=$(nm "$programs/nested" | sed -n "s/^0*\([0-9a-f]*\) [Tt] $function$/\1/p")
	identities+=";[[]stripped[+]0x$start[]]"
done
has "each of its functions is told by where it begins" "$identities(;|\$)"
measure -F 199 -s -- "$tmp/stripped" 100
says "with -s its frames have offsets" "^    [[]stripped[+]0x$start[]][+]0x[0-9a-f]+$" "$out"
measure -F 199 -f --unknown -- "$tmp/stripped" 100
has "with --unknown they are as bcc prints them" ';\[unknown\];\[unknown\];\[unknown\](;|$)'
measure -F 199 -s --unknown -- "$tmp/stripped" 100
says "and with -s show the file" '^    \[unknown\] \[stripped\]$' "$out"

objcopy --only-keep-debug "$programs/nested" "$tmp/symbols"
if command -v xz >"$fate"; then
	objcopy --strip-debug "$tmp/symbols" "$tmp/mini"
	xz -k "$tmp/mini"
	objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$tmp/stripped" "$tmp/mini_debug"
	named "a stripped program with .gnu_debugdata has its names" "$tmp/mini_debug"
else
	skip "a stripped program with .gnu_debugdata has its names" "xz is not installed"
fi

mkdir "$tmp/linked"
cp "$tmp/symbols" "$tmp/linked/nested.debug"
# Without a build-id only the link leads to the file.
(cd "$tmp/linked" && objcopy --remove-section .note.gnu.build-id \
	--add-gnu-debuglink=nested.debug "$tmp/stripped" program)
named "a stripped program with a debug link has its names" "$tmp/linked/program"
mkdir "$tmp/linked/.debug"
mv "$tmp/linked/nested.debug" "$tmp/linked/.debug"
named "the same with the file in .debug" "$tmp/linked/program"
printf x >>"$tmp/linked/.debug/nested.debug"
unnamed "a debug file with another checksum is not used" "$tmp/linked/program"

id=$(readelf -n "$programs/nested" | sed -n 's/^ *Build ID: //p')
if [ -n "$id" ]; then
	mkdir -p "$tmp/debug/.build-id/${id:0:2}"
	cp "$tmp/symbols" "$tmp/debug/.build-id/${id:0:2}/${id:2}.debug"
	export BCC_DEBUGINFO_ROOT=$tmp/debug
	named "a stripped program has its names by its build-id from BCC_DEBUGINFO_ROOT" "$tmp/stripped"
	unset BCC_DEBUGINFO_ROOT
	mkdir -p "$tmp/symfs$tmp"
	cp "$programs/nested" "$tmp/symfs$tmp/stripped"
	export BCC_SYMFS=$tmp/symfs
	named "a stripped program has its names from its file below BCC_SYMFS" "$tmp/stripped"
	unset BCC_SYMFS
else
	skip "names by build-id" "the compiler writes none"
fi

# ---- a cold part, which compilers move away from its function
gcc -O2 -o "$tmp/whole" -x c - <<'END'
#include <stdlib.h>
__attribute__((noinline, cold)) void spin(long n) { for (volatile long i = 0; i < n; i++) ; }
__attribute__((noinline)) int work(int k)
{
	volatile int s = k;
	if (__builtin_expect(k > 5, 0)) {
		spin(300000);
		s += rand();
		if (s == k * 7)
			s++;
		spin(400000);
	}
	return s * 2;
}
int main(void) { for (int i = 0; i < 2000; i++) work(6 + i % 3); }
END
work=$(nm "$tmp/whole" | sed -n 's/^0*\([0-9a-f]*\) T work$/\1/p')
if nm "$tmp/whole" | grep -q ' work\.cold$'; then
	strip -o "$tmp/cold" "$tmp/whole"
	measure -F 499 -f -- "$tmp/cold"
	has "the cold part of a stripped function is told as the function" ";[[]cold[+]0x$work[]];[[]cold[+]0x[0-9a-f]+[]](;|\$)"
else
	skip "the cold part of a stripped function is told as the function" "this compiler makes none"
fi

# ---- languages
measure_command -F 499 -- "$programs/cplusplus" 200
has "names of C++ are demangled" ';main;shop::operator<\(shop::Basket<unsigned long> const&, unsigned long\);shop::Basket<unsigned long>::weigh\(unsigned long\) const;burn\(unsigned long\)(;|$)'
lacks "no name is left mangled" ';_Z'
if [ -x "$programs/rust_names" ]; then
	measure_command -F 499 -- "$programs/rust_names" 1000
	has "names of Rust are demangled" ';rust_names::main;rust_names::kitchen::cook;<rust_names::Stove as rust_names::Burns>::burn_in_trait(;|$)'
	measure_command -F 499 -- "$programs/rust_names_v0" 1000
	has "the same for the newer mangling" ';rust_names_v0::main;rust_names_v0::kitchen::cook::<rust_names_v0::Stove>;<rust_names_v0::Stove as rust_names_v0::Burns>::burn_in_trait(;|$)'
	lacks "no name of Rust is left mangled" ';_(R|ZN)'
else
	skip "names of Rust are demangled" "there is no rustc"
fi

# ---- code outside of files
measure_command -F 499 -- "$programs/clock_reader" 200
if [ "$(counted ';main;(read_clock;)?clock_gettime;entry_SYSCALL')" -gt 20 ]; then
	skip "code of the vDSO has its names" "this kernel's vDSO cannot read the clock"
else
	has "code of the vDSO has its names" ';clock_gettime;(__vdso_)?clock_gettime$'
	measure -F 499 -A -- "$programs/clock_reader" 200
	says "and its module" '^    0x[0-9a-f]{16} (__vdso_)?clock_gettime\+0x[0-9a-f]+ \[vdso\]$' "$out"
fi
measure_command -F 499 -- "$programs/jit" 200
rm -f "/tmp/perf-${said#ready }.map"
has "code of a JIT compiler has the names of its perf map" ';main;call_generated;LGenerated:::countDown$'
measure_command -F 499 -U -- "$programs/nameless" "$programs/nested" $((200 * slow))
named_work "$known"
check $? "a program that is in memory only has its names" "$(hottest)"

# ---- files that were deleted or replaced
cp "$programs/nested" "$tmp/gone"
begin "$tmp/gone" || finish
rm "$tmp/gone"
measure -F 499 -f -p "$pid" $slow
has "a program that was deleted has its names" "$known"
end
cp "$programs/nested" "$tmp/replaced"
begin "$tmp/replaced" || finish
cp "$programs/recursion" "$tmp/new"
mv "$tmp/new" "$tmp/replaced"
measure -F 499 -f -p "$pid" $slow
has "a program that was replaced has its names, not the new one's" "$known"
lacks "and none of the new one's" ';descend(;|$)'
end

# ---- the kernel
measure_command -F 499 -a -K -- "$programs/system_calls" 300
has "the kernel's frames have their names" ';ksys_read_\[k\](;|$)|;vfs_read_\[k\](;|$)'
lacks "none of them is unknown" '\[unknown\]'
finish
