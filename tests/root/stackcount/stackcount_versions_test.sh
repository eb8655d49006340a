#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of one name and several versions, and names with an @: stackcount_versions_test.sh BUILD
# Reports of this kind: names were cut at their first @, so that foo@V_1 and foo@@V_2 were one, and
# Crystal's functions could not be named.
# timeout: 120
# kind: symbols
. "$(dirname "$0")/../stackcount.bash" "$1"
if ! have_uprobes; then
	skip "functions of several versions" "$no_uprobes"
	exit
fi
cd "$tmp" || exit 1
cat >v.c <<'C'
__asm__(".symver old_one, f@V_1\n.symver new_one, f@@V_2");
int old_one(void) { return 1; }
int new_one(void) { return 2; }
C
cat >m.c <<'C'
__asm__(".symver old, f@V_1");
int old(void);
int f(void);
int main(void) { int n = 0; for (int i = 0; i < 7; i++) n += old(); for (int i = 0; i < 3; i++) n += f(); return n & 0; }
C
echo 'V_1 { global: f; local: *; }; V_2 { global: f; } V_1;' >v.map
gcc -O1 -shared -fPIC v.c -o libv.so -Wl,--version-script=v.map && gcc m.c -o m ./libv.so || exit 1
cp libv.so whole.so && strip -o stripped.so libv.so
# calls PATTERN: by name
calls() { "$stackcount" -q -f "./libv.so:$1" -- ./m 2>"$err" | sed 's/.*;//' | sort | paste -sd,; }
for kind in whole stripped; do
	cp $kind.so libv.so
	is() {
		got=$(calls "$1")
		[ "$got" = "$2" ]
		check $? "$kind: $1 counts $2" "$got $(tail -n 1 "$err")"
	}
	is f 'f 3,f@V_1 7'
	is f@V_1 'f@V_1 7'
	is 'f@*' "$([ $kind = whole ] && echo 'f 3,')f@V_1 7"
done
cp whole.so libv.so
[ "$(calls f@@V_2)" = 'f 3' ]
check $? "f@@V_2 counts the default version"
objcopy --redefine-sym main='*Array(Int32)@Indexable#each:Nil' m crystal
"$stackcount" -q -f './crystal:*Indexable*' -- ./crystal >"$out" 2>"$err"
has "a name with an @ that is no version is whole" '[*]Array\(Int32\)@Indexable#each:Nil'
