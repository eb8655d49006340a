#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# Compares where functions of stripped programs begin with the symbols that were stripped:
# function_starts_test.sh BUILD. Needs no root.
# all: it reads every program of the machine; unwind_rows_test.sh reads some
# kind: layouts
build=${1:?}
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
include=(-std=gnu17 -D_GNU_SOURCE $("$top/scripts/rooms" flags) -I"$build" -w)

if ! "${CC:-gcc}" -O2 "${include[@]}" "$top/tests/walks/rows/compare_starts.c" "$build/libcore.a" -lelf -lz -lzstd \
	-o "$tmp/compare"; then
	echo "FAIL build compare_starts"
	exit 1
fi

# ---- programs that have symbols: C by two compilers and in several ways, C++, Rust, and those of
# this machine
sources=("$top"/src/{base,machine/elf,machine/cfi,data/tally,show/view,show/flame}/*.c)
made() { # made NAME COMPILER ARG ...: a program of the sources; a missing compiler is told
	if command -v "$2" >"$tmp/null"; then
		"${@:2}" -o "$tmp/$1" 2>"$tmp/err" || cat "$tmp/err"
	else
		echo "skip $1: there is no $2"
	fi
}
made gcc-O2.so gcc -O2 -fPIC -shared "${include[@]}" "${sources[@]}" &
made gcc-O3-lto.so gcc -O3 -flto=2 -fPIC -shared "${include[@]}" "${sources[@]}" &
wait
made gcc-Os.so gcc -Os -fPIC -shared "${include[@]}" "${sources[@]}" &
made clang-O2.so clang -O2 -fPIC -shared "${include[@]}" "${sources[@]}" &
wait
for workload in cplusplus sc_cplusplus; do
	for compiler in g++ clang++; do
		made "$workload-$compiler" $compiler -O2 -w "$top/tests/workloads/$workload.cc"
	done
done
made static gcc -O2 -w -static "$top/tests/workloads/nested.c"
made lld clang -O2 -w -fuse-ld=lld "$top/tests/workloads/recursion.c"
programs=("$build/profile" "$tmp"/*.so "$tmp"/*++ "$tmp/static" "$tmp/lld")
for file in "$build"/tests/workloads/{rust_names,rust_names_v0,nested,threads,names_inlined,sampled/*} \
	/usr/lib/x86_64-linux-gnu/lib{a,l,t,ub}san.so.*.*.* /usr/bin/node; do
	readelf -SW "$file" 2>"$tmp/null" | grep -q ' \.symtab ' && programs+=("$file")
done

all=0 agree=0 files=0
for program in "${programs[@]}"; do
	[ -f "$program" ] && strip -o "$tmp/stripped" "$program" || continue
	"$tmp/compare" "$program" "$tmp/stripped" >"$tmp/said" || echo "FAIL $program: $(tail -n 3 "$tmp/said")"
	last=$(tail -n 1 "$tmp/said")
	echo "${program##*/}: $last"
	read -r n of cold < <(sed -n 's/^\([0-9]*\) functions, \([0-9]*\) agree, \([0-9]*\) cold.*/\1 \2 \3/p' <<<"$last")
	head -n -1 "$tmp/said" | head -n 5
	all=$((all + ${n:-0})) agree=$((agree + ${of:-0} + ${cold:-0})) files=$((files + 1))
done
if [ "$files" -ge 15 ] && [ "$all" -gt 3000 ] && [ $((agree * 1000)) -ge $((all * 995)) ]; then
	echo "ok   99.5% of functions begin where their symbols do ($agree of $all, $files programs)"
else
	echo "FAIL 99.5% of functions begin where their symbols do ($agree of $all, $files programs)"
fi
# Small code without call frame information, whose functions are not aligned: a report of functions
# that had all the name of the first.
made no-cfi gcc -Os -fPIC -shared -fno-asynchronous-unwind-tables -fno-exceptions "${include[@]}" "${sources[@]}"
if [ -f "$tmp/no-cfi" ] && strip -o "$tmp/stripped" "$tmp/no-cfi"; then
	"$tmp/compare" "$tmp/no-cfi" "$tmp/stripped" >"$tmp/said"
	last=$(tail -n 1 "$tmp/said")
	if grep -Eq '^[0-9]+ functions, [1-9][0-9]+ agree,.* 0 start before, 0 start within$' <<<"$last"; then
		echo "ok   no two functions without call frame information have one name: $last"
	else
		echo "FAIL no two functions without call frame information have one name: $last"
	fi
	strip -o "$tmp/stripped" "$build/profile"
fi
"$tmp/compare" --spoil "$build/profile" "$tmp/stripped" >"$tmp/said"
if grep -q ' 0 agree,' "$tmp/said"; then
	echo "ok   wrong starts are found"
else
	echo "FAIL wrong starts are found: $(tail -n 1 "$tmp/said")"
fi
