#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# What make must do no work for, and what it must do anew. In a copy of the sources, so that
# touching them disturbs nobody.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
copy=$TMPDIR/copy
mkdir "$copy"
cp -rp "$top/Makefile" "$top/src" "$copy/"
cd "$copy" || exit 1
run_make() { make --no-print-directory "$@" 2>&1; }

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

# touched NAME FILE...: make -q must see each change, and all objects below build/ that the
# compiler says came of the file must be new afterwards. Who includes what is found by the
# preprocessor, not by what make believes.
includers() {
	local header=$1 source
	for source in src/*.c src/*/*.c; do
		case $source in
		src/bpf/*) clang -target bpf -Isrc -idirafter "/usr/include/$(gcc -print-multiarch)" -MM "$source" ;;
		*) gcc -std=gnu17 -D_GNU_SOURCE -Isrc -Ibuild -MM "$source" ;;
		esac >"$TMPDIR/depends" 2>/dev/null
		tr -s ' \\' '\n\n' <"$TMPDIR/depends" | grep -qxF "$header" && echo "build/${source%.c}.o"
	done
}
# One header a room, and the one that both sides share: each is in the dependency files by the same rule.
wrong=
for header in src/bpf/wire.h $(for room in src/*/; do find "$room" -maxdepth 1 -name '*.h' | sort | head -n 1; done) \
	$(find src -maxdepth 1 -name '*.h' | sort | head -n 2); do
	find build -type f -exec touch -d '1 hour ago' {} +
	find src Makefile -type f -exec touch -d '2 hours ago' {} +
	touch "$TMPDIR/now" "$header"
	objects=$(includers "$header")
	run_make >"$TMPDIR/log" || { cat "$TMPDIR/log"; wrong+=" $header: make failed;"; continue; }
	for object in $objects; do
		[ "$object" -nt "$TMPDIR/now" ] || wrong+=" $object does not follow $header;"
	done
	[ -n "$objects" ] || echo "$header is included by nobody"
done
if [ -z "$wrong" ]; then
	echo "ok touching a header rebuilds all that include it"
else
	echo "FAIL touching a header rebuilds all that include it:$wrong"
fi

find build -type f -exec touch -d '1 hour ago' {} +
find src Makefile -type f -exec touch -d '2 hours ago' {} +
touch src/base/own.h
if run_make | grep -q 'LD  '; then
	echo "ok a rebuilt object is linked again"
else
	echo "FAIL a rebuilt object is linked again"
fi

if run_make CFLAGS='-O1 -g' | grep -q 'CC  '; then
	echo "ok other flags make a new build"
else
	echo "FAIL other flags make a new build"
fi
