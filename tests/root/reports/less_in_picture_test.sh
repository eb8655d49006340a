#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --focus, --show-from and their relatives while measuring, against programs with known stacks:
# less_in_picture_test.sh BUILD
# kind: silence
. "$(dirname "$0")/../harness.bash" "$1"

begin "$programs/recursion" 30 0 || finish
measure -F 997 -f -U -p "$pid" --focus '^burn$' --show-from '^main$' --collapse-recursion 1
lacks "a function that calls itself is there once" 'descend;.*descend'
has "between its caller and its callee" '^recursion;main;descend;burn(;|$)'
lacks "and nothing else is" '^recursion;(_start|__libc)'
measure -F 997 -f -U -p "$pid" --hide '^descend$' --hide 'libc' 1
lacks "hidden functions are not there" '(descend|__libc)'
has "their callers and callees are" ';main;burn'
measure -F 997 -f -U -p "$pid" --ignore '^burn$' --ignore nosuch 1
grep -q "^WARNING: no function, file or module matches --ignore 'nosuch'" "$err"
check $? "an expression that matches nothing is named" "$(cat "$err")"
[ "$(counted ';burn(;|$)')" -eq 0 ] && grep -Eq '^shown: [0-9]+ samples; [0-9]+ samples are left out by --ignore$' "$err"
check $? "what is ignored is counted" "$(cat "$err")"
end

begin "$programs/cplusplus" 0 || finish
measure -F 997 -f -U -p "$pid" --simple-names 1
has "a simple name has no parameters" ';shop::operator<;shop::Basket::weigh(;|$)'
measure -F 997 -f -U -p "$pid" --raw-names 1
has "a raw name is mangled" ';_ZNK4shop6BasketImE5weighEm(;|$)'
"$profile" -q -F 997 -U -p "$pid" --focus weigh -o "$tmp/whole.stacktally" 1 >"$out" 2>"$err"
"$profile" -q --from "$tmp/whole.stacktally" --raw-names -f >"$out" 2>"$err"
has "a recording keeps both names" ';_ZNK4shop6BasketImE5weighEm(;|$)'
end
finish
