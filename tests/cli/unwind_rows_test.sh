#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1200
# Unwinding rows compared with what binutils and elfutils read in the same files:
# unwind_rows_test.sh BUILD. With UNWIND_ROWS=all, over every ELF file of this machine.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
build=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for reader in readelf libdw; do
	libs="-lz -lzstd"
	[ $reader = readelf ] || libs="-ldw -lelf $libs"
	# shellcheck disable=SC2086
	if ! "${CC:-gcc}" -O2 -std=gnu17 -D_GNU_SOURCE -I"$top/src" "$top/tests/unwind/compare_$reader.c" \
		"$build/libcore.a" $libs -o "$tmp/$reader"; then
		echo "FAIL build compare_$reader"
		exit 1
	fi
done

# compare NAME READER FILE ...: no differences, and some rows.
compare() {
	local name=$1 reader=$2 said
	shift 2
	if said=$("$tmp/$reader" "$@" 2>&1); then
		echo "ok $name: $(tail -n 1 <<<"$said")"
	else
		tail -n 20 <<<"$said"
		echo "FAIL $name: $(tail -n 1 <<<"$said")"
	fi
}

# What is on any machine, and what has the odd ones: hand-written code, huge frames, realignment.
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
	if said=$("$tmp/$reader" --spoil "${files[@]}" 2>&1); then
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

# built NAME READERS FLAGS ...: the program, built in some way, and compared.
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

# Without section headers, the segment leads to the same rows.
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

if [ "${UNWIND_ROWS-}" = all ]; then
	compare "every file of this machine" readelf /usr/bin /usr/sbin /usr/lib /usr/local
	# elfutils refuses what libgcc and binutils do: a register for the CFA after an expression.
	compare "every file of this machine" libdw /usr/bin /usr/sbin /usr/lib /usr/local
fi
