#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# make builds again exactly what a change affects. Works on a copy of the sources, so that other
# builds do not see the touched files.
# all: it builds all from nothing; every build of a change tries a part
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
copy=$TMPDIR/copy
mkdir "$copy"
cp -rp "$top/Makefile" "$top/src" "$top/scripts" "$top/docs" "$top/service" "$copy/"
cd "$copy" || exit 1
run_make() { make --no-print-directory CFLAGS=-O0 "$@" 2>&1; }

if ! run_make >"$TMPDIR/log"; then
	cat "$TMPDIR/log"
	echo "FAIL make builds from nothing"
	exit
fi
echo "ok make builds from nothing"

again=$(run_make)
if [ "$again" = "make: Nothing to be done for 'all'." ]; then
	echo "ok make does nothing the second time"
else
	echo "FAIL make does nothing the second time: $(head -n 3 <<<"$again")"
fi

# Twice, because `make install` must replace installed files.
run_make install DESTDIR="$TMPDIR/root" PREFIX=/usr >"$TMPDIR/log"
run_make install DESTDIR="$TMPDIR/root" PREFIX=/usr >>"$TMPDIR/log" || echo "FAIL make install: $(tail -n 3 "$TMPDIR/log")"
bin=$TMPDIR/root/usr/bin
if [ "$(stat -c %h "$bin/stacktally")" = 3 ] && [ "$bin/profile" -ef "$bin/stacktally" ] &&
	"$bin/profile" --version | grep -q '^profile ' && "$bin/stackcount" --version | grep -q '^stackcount '; then
	echo "ok make install: one program with three names"
else
	echo "FAIL make install: one program with three names: $(ls -li "$bin")"
fi
absent=$(cd "$TMPDIR/root/usr/share" && ls man/man1/stacktally.1 man/man8/{profile,stackcount}.8 \
	bash-completion/completions/{profile,stackcount,stacktally} 2>&1 >"$TMPDIR/log")
if [ -z "$absent" ]; then
	echo "ok make install: man pages and completions"
else
	echo "FAIL make install: man pages and completions: $absent"
fi

# If a header changes, make must rebuild every object that includes it. What includes it is told by
# the compilers, what make does by the rules that it has read.
source_dirs=$(scripts/rooms flags .)
for source in src/*/*.c src/*/*/*.c; do
	case $source in
	*.bpf.c) clang -target bpf -D__TARGET_ARCH_x86 $source_dirs -Ibuild -idirafter "/usr/include/$(gcc -print-multiarch)" -MM "$source" ;;
	*) gcc -std=gnu17 -D_GNU_SOURCE $source_dirs -Ibuild -MM "$source" ;;
	esac >"$TMPDIR/included" || echo "FAIL the compiler tells what $source includes"
	tr -s ' \\' '\n\n' <"$TMPDIR/included" | sed -n "s,^src/.*\.h\$,build/${source%.c}.o &,p"
done >"$TMPDIR/includes"
run_make -pq | awk '/^build\/src\/[^ ]*\.o: / {
	object = substr($1, 1, length($1) - 1)
	for (i = 2; i <= NF && $i != "|"; i++)
		print object, $i
}' >"$TMPDIR/prerequisites"
wrong=$(grep -vxF -f "$TMPDIR/prerequisites" "$TMPDIR/includes" | sed 's, , does not follow ,;s,$,;,' | head -n 5)
if [ ! -s "$TMPDIR/includes" ]; then
	echo "FAIL a changed header rebuilds all that include it: found no include at all"
elif [ -n "$wrong" ]; then
	echo "FAIL a changed header rebuilds all that include it: $wrong"
else
	echo "ok a changed header rebuilds all that include it"
fi
if run_make -n V=1 -W src/in_kernel/bpf/wire.h | grep -q 'gen skeleton'; then
	echo "ok a changed wire.h makes the skeleton again"
else
	echo "FAIL a changed wire.h makes the skeleton again"
fi

find build -type f -exec touch -d '1 hour ago' {} +
find src Makefile -type f -exec touch -d '2 hours ago' {} +
touch src/base/own.h
# Read all output before searching it: make fails if its output is closed.
said=$(run_make)
if [[ $said == *"LD  "* ]] && [ build/profile -nt src/base/own.h ]; then
	echo "ok touching a header ends in new commands"
else
	echo "FAIL touching a header ends in new commands"
fi

if run_make -n V=1 CFLAGS='-O3' | grep -q -- '-O3.* -o build/src/base/error.o'; then
	echo "ok other flags make a new build"
else
	echo "FAIL other flags make a new build"
fi
