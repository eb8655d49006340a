#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands that are crossed to aarch64 (make ARCH=aarch64), and rows of files of aarch64, which
# are compiled on any machine: compared with binutils' readelf, and code without CFI with the CFI of
# code that has it. aarch64_test.sh BUILD
# kind: layouts
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
build=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cross=aarch64-linux-gnu-gcc
if ! command -v $cross >/dev/null; then
	echo "skip aarch64: no $cross (make deps ARCH=aarch64)"
	exit 0
fi

if [ -e "$top/build-aarch64/stacktally" ]; then
	header=$(readelf -hl "$top/build-aarch64/stacktally")
	if grep -q 'Machine: *AArch64' <<<"$header" && ! grep -q INTERP <<<"$header"; then
		echo "ok the commands for aarch64 are static"
	else
		echo "FAIL the commands for aarch64 are static: $header"
	fi
else
	echo "skip the commands for aarch64: not built (make ARCH=aarch64)"
fi

for program in compare_readelf compare_aarch64 print_rows; do
	# shellcheck disable=SC2046
	if ! "${CC:-gcc}" -O2 -std=gnu17 -D_GNU_SOURCE $("$top/scripts/rooms" flags) "$top/tests/walks/rows/$program.c" \
		"$build/libcore.a" -lz -lzstd -o "$tmp/$program"; then
		echo "FAIL build $program"
		exit 1
	fi
done

# compare NAME PROGRAM FILE ...: the files have rows, and none differs
compare() {
	local name=$1 program=$2 said
	shift 2
	if said=$("$tmp/$program" "$@" 2>&1); then
		echo "ok $name: $(tail -n 1 <<<"$said")"
	else
		tail -n 20 <<<"$said"
		echo "FAIL $name: $(tail -n 1 <<<"$said")"
	fi
}

cat >"$tmp/program.c" <<'EOF'
#include <alloca.h>
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
	memset(big, argc, sizeof(big));
	return deep(big[argc * 7] & 3, sum) + !argv;
}
EOF
files=()
for flags in -O2 "-O2 -static" "-O2 -mbranch-protection=standard" "-Os -fomit-frame-pointer" "-O0 -g" \
	"-O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables"; do
	files+=("$tmp/program${#files[@]}")
	# shellcheck disable=SC2086
	$cross $flags -o "${files[-1]}" "$tmp/program.c" || echo "FAIL build with $flags"
done
for library in libc libm libpthread libgcc_s libstdc++; do
	path=$($cross -print-file-name=$library.so.6)
	[ ! -f "$path" ] || files+=("$(readlink -f "$path")")
done
compare "rows of aarch64" compare_readelf "${files[@]}"
compare "frames that follow from instructions" compare_aarch64 "${files[1]}" "${files[2]}" "$(readlink -f \
	"$($cross -print-file-name=libc.so.6)")"
if said=$("$tmp/compare_readelf" --spoil "${files[@]}" 2>&1); then
	echo "FAIL spoilt rows are found: $said"
else
	echo "ok spoilt rows are found: $(grep -c differs: <<<"$said") lines"
fi

# rule NAME FILE ADDRESS WANTED: the rule at the address contains WANTED
rule() {
	local said
	said=$("$tmp/print_rows" "$2" "$3")
	if [[ $said == *"$4"* ]]; then
		echo "ok $1"
	else
		echo "FAIL $1: $said, not $4"
	fi
}
cat >"$tmp/vdso.s" <<'EOF'
	.text
	.globl leaf, framed, sigreturn
leaf:	ldr	x1, [x0, #240]
	tst	w2, #0x60
	b.ne	1f
	cbz	x1, 1f
	add	x0, x0, x1
1:	ret
	nop
framed:	paciasp
	stp	x29, x30, [sp, #-48]!
	mov	x29, sp
	str	x19, [sp, #16]
in_framed:
	bl	leaf
	ldr	x19, [sp, #16]
	ldp	x29, x30, [sp], #48
framed_end:
	autiasp
	ret
	nop
	mrs	x2, cntvct_el0
before_sigreturn:
	nop
sigreturn:
	mov	x8, #139
	svc	#0
	.globl before_sigreturn
	.globl in_framed, framed_end
EOF
$cross -nostdlib -shared -o "$tmp/vdso" "$tmp/vdso.s"
at() { nm "$tmp/vdso" | awk -v name="$1" '$3 == name { print $1 }'; }
rule "a leaf without CFI" "$tmp/vdso" "$(at leaf)" "cfa=sp+0 fp=same+0 ra=reg reg=30"
rule "a frame without CFI" "$tmp/vdso" "$(at in_framed)" "cfa=sp+48 fp=cfa-48 ra=cfa reg=0 extra=-40"
rule "its end" "$tmp/vdso" "$(at framed_end)" "cfa=sp+0 fp=same+0 ra=reg reg=30"
rule "the return from a signal handler" "$tmp/vdso" "$(at sigreturn)" "ra=SIGNAL"
rule "the byte before it, which walks look up" "$tmp/vdso" "$(at before_sigreturn)" "ra=SIGNAL"
