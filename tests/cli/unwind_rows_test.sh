#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1200
# Compares our unwinding rows with those that binutils and elfutils read from the same files:
# unwind_rows_test.sh BUILD. With UNWIND_ROWS=all, for every ELF file of this machine.
# kind: callers
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
build=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for program in compare_readelf compare_libdw compare_flow compare_instructions print_rows; do
	libs="-lz -lzstd"
	[ $program != compare_libdw ] || libs="-ldw -lelf $libs"
	# shellcheck disable=SC2086
	if ! "${CC:-gcc}" -O2 -std=gnu17 -D_GNU_SOURCE $("$top/scripts/rooms" flags) "$top/tests/walks/rows/$program.c" \
		"$build/libcore.a" $libs -o "$tmp/$program"; then
		echo "FAIL build $program"
		exit 1
	fi
done

# compare NAME READER FILE ...: the files have rows, and none differs
compare() {
	local name=$1 reader=$2 said
	shift 2
	if said=$("$tmp/compare_$reader" "$@" 2>&1); then
		echo "ok $name: $(tail -n 1 <<<"$said")"
	else
		tail -n 20 <<<"$said"
		echo "FAIL $name: $(tail -n 1 <<<"$said")"
	fi
}

# Files of any machine, and files with unusual rows: hand-written code, huge frames, realignment.
files=()
for path in /lib/x86_64-linux-gnu/{libc.so.6,libm.so.6,libpthread.so.0,libgcc_s.so.1} \
	/lib64/ld-linux-x86-64.so.2 /usr/lib/x86_64-linux-gnu/{libcrypto.so.3,libstdc++.so.6} \
	/usr/bin/{python3,perl,bash,gdb} /usr/lib/gcc/x86_64-linux-gnu/*/cc1 /sbin/ldconfig; do
	[ ! -e "$path" ] || files+=("$(readlink -f "$path")")
done
compare "installed files" readelf "${files[@]}"
compare "installed files" libdw "${files[@]}"

# The comparison can fail.
for reader in readelf libdw; do
	if said=$("$tmp/compare_$reader" --spoil "${files[@]}" 2>&1); then
		echo "FAIL spoilt rows are found: $reader did not"
	elif [ "$(grep -c differs: <<<"$said")" -lt ${#files[@]} ]; then
		echo "FAIL spoilt rows are found: $reader found $said"
	else
		echo "ok spoilt rows are found by $reader"
	fi
done

cat >"$tmp/program.c" <<'EOF'
#include <alloca.h>
#include <immintrin.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
int deep(int n, double *of)
{
	char *more = alloca((size_t)n * 16);
	double aligned[8] __attribute__((aligned(64))) = { n };
	memset(more, n, (size_t)n * 16);
	of[0] += aligned[n & 7] + more[n];
	return n ? deep(n - 1, aligned) + printf("%d\n", n) : 0;
}
int main(int argc, char **argv)
{
	char big[1 << 20];
	double sum[8] = { 0 };
	signal(SIGINT, SIG_IGN);
	memset(big, argc, sizeof(big));
	return deep(big[argc * 7] & 3, sum) + !argv;
}
EOF

# built NAME READERS FLAGS ...: compares the program, built with these flags
built() {
	local name=$1 readers=$2
	shift 2
	if ! "${CC:-gcc}" "$@" -o "$tmp/program" "$tmp/program.c" >"$tmp/log" 2>&1; then
		echo "skip $name: cannot be built here: $(tail -n 1 "$tmp/log")"
		return
	fi
	for reader in $readers; do
		compare "$name" "$reader" "$tmp/program"
	done
}
no_eh=(-fno-asynchronous-unwind-tables -fno-unwind-tables -g)
built "optimized" "readelf libdw" -O2
built "static" "readelf libdw" -O2 -static
built "static-pie" "readelf libdw" -O2 -static-pie
built "AVX" "readelf libdw" -O3 -mavx2
built "linked by LLD" "readelf libdw" -O2 -fuse-ld=lld
built ".debug_frame" "readelf libdw" -O2 "${no_eh[@]}"
built ".debug_frame by zlib" "readelf libdw" -O2 "${no_eh[@]}" -gz=zlib
built ".debug_frame by zlib-gnu" "readelf" -O2 "${no_eh[@]}" -gz=zlib-gnu
built ".debug_frame by zstd" "libdw" -O2 "${no_eh[@]}" -gz=zstd
built "64-bit DWARF" "readelf libdw" -O2 "${no_eh[@]}" -gdwarf64

# Rows from instructions alone: sizes of instructions, and frames of code as if it had no CFI. (In C
# only: a call in C++ may throw and not return.)
coded=()
for path in /usr/bin/{python3,perl,bash} /usr/lib/x86_64-linux-gnu/libsqlite3.so.0; do
	[ ! -e "$path" ] || coded+=("$(readlink -f "$path")")
done
compare "frames by instructions" flow "${coded[@]}"
for path in /lib/x86_64-linux-gnu/libc.so.6 "${coded[@]}"; do
	said=$(objdump -d -w --insn-width=15 "$path" | "$tmp/compare_instructions")
	status=$?
	[ $status -ne 0 ] && echo "FAIL sizes of instructions, $(basename "$path"): $said" ||
		echo "ok sizes of instructions, $(basename "$path"): $said"
done

# Without section headers, the program headers lead to the same rows.
if "${CC:-gcc}" -O2 -static -o "$tmp/program" "$tmp/program.c" -Wl,--eh-frame-hdr &&
	"${CC:-gcc}" -O2 -o "$tmp/dynamic" "$tmp/program.c"; then
	for program in program dynamic; do
		# e_shoff, then e_shnum and e_shstrndx.
		printf '\0\0\0\0\0\0\0\0' | dd of="$tmp/$program" bs=1 seek=40 conv=notrunc status=none
		printf '\0\0\0\0' | dd of="$tmp/$program" bs=1 seek=60 conv=notrunc status=none
		compare "without sections, $program" libdw "$tmp/$program"
	done
else
	echo "FAIL without sections: cannot be built"
fi

# Code without CFI: the ends of stacks, stubs made by linkers, signal returns.
# rule NAME FILE ADDRESS WANTED: the rule at the address contains WANTED, in the form of print_rows
rule() {
	local said
	said=$("$tmp/print_rows" "$2" "$3" 2>&1)
	if [[ $said == *" $4"* ]]; then
		echo "ok $1"
	else
		echo "FAIL $1: at $3: $said instead of $4"
	fi
}
symbol() { # FILE NAME: prints the address of the symbol
	nm "$1" 2>/dev/null | awk -v name="$2" '$3 == name { print $1 }' | head -n 1
}
add() { # ADDRESS NUMBER
	printf '%x' $((0x$1 + $2))
}
entry() {
	readelf -hW "$1" | awk '/Entry point/ { sub("0x", "", $4); print $4 }'
}
# stubs FILE: each entry of its PLT has a rule
stubs() {
	local gaps=0 n=0 address size at name
	while read -r address size; do
		for ((at = 0; at < 16#$size; at += 8)); do
			n=$((n + 1))
			[[ $("$tmp/print_rows" "$1" "$(add "$address" $at)") != *cfa=gap* ]] || gaps=$((gaps + 1))
		done
	done < <(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 ~ /^\.i?plt/ { print $3, $5 }')
	name="PLT of $(basename "$1")"
	if [ $n -eq 0 ] || [ $gaps -gt 0 ]; then
		echo "FAIL $name: $gaps of $n places have no rule"
	else
		echo "ok $name"
	fi
}

# Padding behind a call aligns a loop, or another function: then the call does not return.
cat >"$tmp/padded.s" <<'EOF'
.globl _start
.text
_start: call aligned; call looper; call before; hlt
.p2align 4
aligned: push %rbx; mov $9, %ebx; call leaf
.p2align 4
again: dec %ebx; jnz again; pop %rbx; ret
.p2align 4
before: push %rbx; call *%rax
.p2align 4
looper: dec %edi; jnz looper; ret
.p2align 4
leaf: ret
EOF
if "${CC:-gcc}" -nostdlib -static -no-pie -o "$tmp/padded" "$tmp/padded.s"; then
	rule "a loop behind a call and padding" "$tmp/padded" "$(symbol "$tmp/padded" again)" 'cfa=sp+16 '
	rule "a function that begins with a loop, behind the same" "$tmp/padded" "$(symbol "$tmp/padded" looper)" 'cfa=sp+8 '
else
	echo "FAIL padding behind calls: cannot be built"
fi

# If most functions keep no frame pointer, none is assumed to: a function that ends with an indirect
# jump has no rule.
cat >"$tmp/mixed.s" <<'EOF'
.globl _start
.text
_start: hlt
.rept 1500
.p2align 4
push %rbp; mov %rsp, %rbp; nop; pop %rbp; ret
.p2align 4
xor %eax, %eax; ret
.p2align 4
xor %eax, %eax; ret
.endr
.p2align 4
framed: push %rbp; mov %rsp, %rbp; nop; pop %rbp; ret
.p2align 4
bare: xor %eax, %eax; jmp *%rcx
.p2align 4
EOF
if "${CC:-gcc}" -nostdlib -static -o "$tmp/mixed" "$tmp/mixed.s"; then
	rule "in a frame, by its instructions" "$tmp/mixed" "$(add "$(symbol "$tmp/mixed" framed)" 4)" "cfa=sp+16 fp=cfa-16"
	rule "no frame is assumed beside one" "$tmp/mixed" "$(symbol "$tmp/mixed" bare)" "cfa=gap"
else
	echo "FAIL mixed: cannot be built"
fi

cat >"$tmp/threads.c" <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void *thread(void *of) { return of; }
int main(void)
{
	pthread_t id;
	signal(SIGINT, SIG_IGN);
	printf("%d %d\n", pthread_create(&id, 0, thread, 0), pthread_join(id, 0));
	return vfork() ? 0 : (_exit(0), 1);
}
EOF
make_threads() { # NAME COMPILER FLAGS ...
	local name=$1
	shift
	if ! command -v "$1" >/dev/null || ! "$@" -O2 -o "$tmp/$name" "$tmp/threads.c" 2>"$tmp/log"; then
		echo "skip $name: cannot be built here: $1"
		return 1
	fi
}
if make_threads glibc-static "${CC:-gcc}" -static; then
	rule "entry, static" "$tmp/glibc-static" "$(entry "$tmp/glibc-static")" ra=END
	stubs "$tmp/glibc-static"
fi
if make_threads glibc-static-pie "${CC:-gcc}" -static-pie; then
	rule "entry, static-pie" "$tmp/glibc-static-pie" "$(entry "$tmp/glibc-static-pie")" ra=END
	stubs "$tmp/glibc-static-pie"
fi
rule "entry of the dynamic linker" "$(readlink -f /lib64/ld-linux-x86-64.so.2)" \
	"$(entry /lib64/ld-linux-x86-64.so.2)" "ra=E"
if make_threads lld "${CC:-gcc}" -fuse-ld=lld; then
	stubs "$tmp/lld"
fi
if make_threads lld-ibt clang -fuse-ld=lld -Wl,-z,force-ibt -fcf-protection=full; then
	stubs "$tmp/lld-ibt"
fi
if make_threads musl-static musl-gcc -static; then
	rule "entry, musl static" "$tmp/musl-static" "$(entry "$tmp/musl-static")" ra=ENTRY
	clone=$(symbol "$tmp/musl-static" __clone)
	rule "musl's clone, of the parent" "$tmp/musl-static" "$(add "$clone" 0x24)" "cfa=sp+8 fp=same+0 ra=cfa"
	rule "musl's clone, of the thread" "$tmp/musl-static" "$(add "$clone" 0x2e)" ra=ENTRY
	restore=$(symbol "$tmp/musl-static" __restore_rt)
	rule "musl's signal return, a byte early" "$tmp/musl-static" "$(add "$restore" -1)" ra=SIGNAL
	rule "musl's signal return" "$tmp/musl-static" "$(add "$restore" 8)" ra=SIGNAL
	main=$(objdump -d --no-show-raw-insn "$tmp/musl-static" --disassemble=libc_start_main_stage2 |
		awk '$2 == "call" && $3 ~ /^\*/ { getline; sub(":", "", $1); print "0x" $1 }')
	rule "where musl's main returns to" "$tmp/musl-static" "$main" ra=ENTRY
	rule "musl's vfork" "$tmp/musl-static" "$(add "$(symbol "$tmp/musl-static" vfork)" 7)" "ra=reg reg=1"
fi
if make_threads musl musl-gcc; then
	rule "entry, musl" "$tmp/musl" "$(entry "$tmp/musl")" ra=ENTRY
	stubs "$tmp/musl"
fi

# Functions without CFI that only calls from the other side of code with CFI lead to, or the address
# that another one takes; small code, whose calls need no aligned stack; and what does not return.
cat >"$tmp/before.c" <<'EOF'
extern void copy(char *, const char *, long);
extern void start(void *) __attribute__((noreturn));
static char a[64], b[64];
__attribute__((noinline)) void leaf(void) { for (volatile long i = 0; i < 9; i++); }
__attribute__((noinline)) void middle(void) { leaf(); __asm__ volatile(""); }
int main(void) { middle(); copy(a, b, 64); __asm__ volatile("" : : "r"(start)); middle(); return 0; }
EOF
{
	echo 'void framed(long *a) { long b[4] = { a[0] };'
	for ((i = 0; i < 200; i++)); do echo "b[a[$i] & 3] += a[$i];"; done
	echo 'a[1] = b[a[0] & 3]; }'
} >"$tmp/between.c"
echo 'int twice(int n) { return 2 * n; }' >"$tmp/twice.c"
echo '.section .note.GNU-stack; .text; .globl bare; bare: mov %edi, %eax; shl $1, %rax; add %rdi, %rax; imul %rdi, %rax; xor %rdi, %rax; bswap %rax; ret' >"$tmp/bare.s"
cat >"$tmp/behind.c" <<'EOF'
/* No function that ends where copy() begins is accepted. */
__asm__(".globl copy; pop 64(%rdi); jmp *%rdx; copy: mov %rdx, %rcx; rep movsb; ret; nop");
extern void left(void) __attribute__((noreturn));
void start(void **of) { long kept = of[1] ? 7 : 9; ((void (*)(long))of[0])(kept); left(); }
void left(void) { for (;;) __asm__ volatile("syscall" : : "a"(60) : "rcx", "r11"); }
EOF
no_cfi=(-c -Os -fno-asynchronous-unwind-tables -fno-exceptions)
if "${CC:-gcc}" "${no_cfi[@]}" -o "$tmp/before.o" "$tmp/before.c" &&
	"${CC:-gcc}" -c -O1 -o "$tmp/between.o" "$tmp/between.c" &&
	"${CC:-gcc}" "${no_cfi[@]}" -o "$tmp/behind.o" "$tmp/behind.c" 2>"$tmp/log" &&
	"${CC:-gcc}" -c -O1 -o "$tmp/twice.o" "$tmp/twice.c" &&
	"${CC:-gcc}" -c -o "$tmp/bare.o" "$tmp/bare.s" &&
	"${CC:-gcc}" -o "$tmp/apart" "$tmp"/{before,between,behind,twice,bare}.o; then
	rule "small code, misaligned calls" "$tmp/apart" "$(symbol "$tmp/apart" main)" "cfa=sp+8"
	rule "code that is called from far" "$tmp/apart" "$(add "$(symbol "$tmp/apart" copy)" 3)" "cfa=sp+8"
	rule "a function behind one with CFI and its rule" "$tmp/apart" "$(symbol "$tmp/apart" bare)" "cfa=sp+8"
	at=$(objdump -d --no-show-raw-insn --disassemble=start "$tmp/apart" |
		awk '$2 == "call" && $3 ~ /^\*/ { sub(":", "", $1); print $1 }')
	rule "a function that does not return" "$tmp/apart" "$at" "cfa=sp+"
else
	echo "FAIL code without CFI beside code with it: cannot be built"
fi

# Code without CFI that keeps frame pointers, behind code with CFI.
for ((i = 0; i < 3000; i++)); do
	echo "long f$i(long *a) { long b[4] = { a[0], $i }; g(b); return a[$i & 7] * b[1]; }"
done >"$tmp/framed.c"
sed -i '1i void g(long *);' "$tmp/framed.c"
if "${CC:-gcc}" -c -O1 -fno-omit-frame-pointer -fcf-protection=none -fno-asynchronous-unwind-tables \
	-o "$tmp/framed.o" "$tmp/framed.c" &&
	echo 'void g(long *a) { a[2]++; } int main(void) { return 0; }' |
	"${CC:-gcc}" -o "$tmp/framed" -x c - -x none "$tmp/framed.o"; then
	begin=$(symbol "$tmp/framed" f1234)
	rule "framed code, before the push" "$tmp/framed" "$begin" "cfa=sp+8 fp=same+0 ra=cfa"
	rule "framed code, after the push" "$tmp/framed" "$(add "$begin" 1)" "cfa=sp+16 fp=cfa-16"
	rule "framed code, in its frame" "$tmp/framed" "$(add "$begin" 4)" "cfa=fp+16 fp=cfa-16"
	rule "code with CFI beside framed code" "$tmp/framed" "$(symbol "$tmp/framed" main)" "cfa=sp+8"
else
	echo "FAIL framed code: cannot be built"
fi

# Go: stack depths, compared with those that elfutils reads in .debug_frame, and the ends of its
# stacks.
cat >"$tmp/program.go" <<'EOF'
package main

import (
	"fmt"
	"sort"
	"time"
)

func main() {
	of := map[string]time.Time{"a": time.Now()}
	keys := []string{}
	for k := range of {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	fmt.Println(keys, of)
}
EOF
if command -v go >/dev/null; then
	for mode in exe pie; do
		if ! (cd "$tmp" && HOME=$tmp GOCACHE=$tmp/cache GO111MODULE=off \
			go build -buildmode=$mode -o go-$mode program.go) 2>"$tmp/log"; then
			echo "FAIL go, $mode: $(tail -n 1 "$tmp/log")"
			continue
		fi
		go=$tmp/go-$mode
		compare "go, $mode" libdw "$go"
		for end in runtime.goexit runtime.mstart runtime.rt0_go; do
			rule "$end, $mode" "$go" "$(symbol "$go" $end.abi0)" ra=ENTRY
		done
		# Renamed in some Go version.
		at=$(symbol "$go" runtime.sigreturn.abi0)
		at=${at:-$(symbol "$go" runtime.sigreturn__sigaction.abi0)}
		rule "Go's signal return, $mode" "$go" "$(add "$at" -1)" ra=SIGNAL
		# The child of vfork() shares the stack, so the return address is popped meanwhile.
		at=$(objdump -d --no-show-raw-insn --disassemble=syscall.rawVforkSyscall.abi0 "$go" |
			awk '$2 == "syscall" { sub(":", "", $1); print $1 }')
		rule "in Go's vfork, $mode" "$go" "$at" "cfa=sp+0 fp=same+0 ra=reg reg=12"
		rule "behind Go's vfork, $mode" "$go" "$(add "$at" 4)" "cfa=sp+8 fp=same+0 ra=cfa"
		cp "$go" "$go.stripped"
		strip "$go.stripped"
		"$tmp/print_rows" "$go" >"$tmp/rows"
		if [ -s "$tmp/rows" ] && "$tmp/print_rows" "$go.stripped" | cmp -s "$tmp/rows"; then
			echo "ok stripping changes no rows, $mode"
		else
			echo "FAIL stripping changes no rows, $mode"
		fi
	done
	# Go's linker lists C functions in Go's table, which says nothing of their stacks.
	cat >"$tmp/called.go" <<'EOF'
package main

// void outside(char *);
// int in_c(int n) { char on_stack[40]; outside(on_stack); return on_stack[n]; }
// void outside(char *of) { of[3] = 1; }
import "C"

func main() { println(C.in_c(3)) }
EOF
	if (cd "$tmp" && HOME=$tmp GOCACHE=$tmp/cache GO111MODULE=off CGO_ENABLED=1 \
		CGO_CFLAGS="-O1 -fno-inline -fno-stack-protector -fcf-protection=none" \
		go build -ldflags=-linkmode=internal -o go-cgo called.go) 2>"$tmp/log"; then
		at=$(symbol "$tmp/go-cgo" in_c)
		rule "where a C function in a Go program begins" "$tmp/go-cgo" "$at" "cfa=sp+8"
		at=$(objdump -d --no-show-raw-insn --disassemble=in_c "$tmp/go-cgo" |
			awk '$2 == "call" { sub(":", "", $1); print $1 }')
		rule "in the frame of a C function in a Go program" "$tmp/go-cgo" "$at" "cfa=sp+64"
	else
		echo "skip C in Go: cannot be built here: $(tail -n 1 "$tmp/log")"
	fi
else
	echo "skip go: there is no go"
fi

if [ "${UNWIND_ROWS-}" = all ]; then
	compare "every file of this machine" readelf /usr/bin /usr/sbin /usr/lib /usr/local
	# elfutils refuses one thing that libgcc and binutils accept: a register for the CFA after
	# an expression.
	compare "every file of this machine" libdw /usr/bin /usr/sbin /usr/lib /usr/local
fi
