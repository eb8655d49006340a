#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The form of the files: clang-format's style, no blanks at line ends, a licence line at the top,
# scripts that parse: check_format.sh BUILD
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1

# files PATTERN...: the files of the project; without git all files outside of build/
files() {
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard -- "$@"
	else
		find . -path ./build -prune -o -type f -print | sed 's,^\./,,'
	fi | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}
if [ "$(files . | wc -l)" -lt 100 ]; then
	echo "FAIL the files of the project are found: $(files . | wc -l)"
	exit
fi
result() { # NAME OFFENDERS
	if [ -z "$2" ]; then
		echo "ok $1"
	else
		echo "$2"
		echo "FAIL $1: $(wc -l <<<"$2") lines above"
	fi
}

# Versions of clang-format differ; the tree follows version 14, that of Debian 12.
format=$(command -v clang-format-14 || command -v clang-format)
version=$("$format" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
if [ "$version" != 14 ]; then
	echo "skip C sources are formatted: needs clang-format 14, this is ${version:-none}"
else
	# Files that passed are not looked at again, until they or the style change.
	passed=${1-$top/build}/formatted style=$(sha256sum <.clang-format)
	touch "$passed"
	sums=$(files '*.c' '*.h' | grep '\.[ch]$' | grep -v '^tests/golden/' | xargs -d '\n' sha256sum |
		sed "s/\$/ ${style%% *}/" | sort)
	said=$(comm -23 <(echo "$sums") "$passed" | cut -d' ' -f3 |
		xargs -r -P "$(nproc)" -n 16 "$format" --dry-run -Werror 2>&1) || said+=$'\nclang-format:0:0: error: fails'
	offenders=$(sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: error: .*/\1: run make format/p' <<<"$said" | sort -u)
	[[ $offenders != "clang-format: run make format" ]] || echo "$said"
	result "C sources are formatted" "$(grep -v '^clang-format: ' <<<"$offenders" || echo "$offenders")"
	[ -n "$offenders" ] || echo "$sums" >"$passed"
fi

text() { files . | grep -vE '^(tests/(golden|fuzz)/|LICENSE)'; }
result "no blanks at the end of lines" "$(text | tr '\n' '\0' | xargs -0 grep -nIP '[[:blank:]\r]+$')"

if ! command -v node >/dev/null; then
	echo "skip scripts of pages parse: no node"
else
	result "scripts of pages parse" "$(files 'src/*.js' | grep '\.js$' | while read -r file; do
		node --check "$file" 2>&1 | sed -n 1p
	done)"
fi

result "sources name their licence" "$(files . |
	grep -E '\.([chs]|cc|rs|py|sh)$|^Makefile$|^\.ci/run$|^scripts/|^tests/(run|vm/)' |
	grep -vE '^tests/(golden|fuzz/corpus)/' |
	while read -r file; do
		head -n 2 "$file" | grep -q 'SPDX-License-Identifier: ' || echo "$file: no SPDX line"
	done)"

result "the kernel side is dual licensed" "$(files src | grep -E '^src/in_kernel/.*\.[ch]$' |
	while read -r file; do
		head -n 1 "$file" | grep -q 'GPL-2.0-or-later OR BSD-2-Clause' || echo "$file: GPL only"
	done)"
