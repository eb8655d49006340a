#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A measurement of the whole machine is not about itself: profile_self_test.sh BUILD
# Reports of this kind: 6 % of the samples of a short run were its own.
# timeout: 120
# kind: whom
. "$(dirname "$0")/../harness.bash" "$1"

# Other tests run profile, too: this one has a name of its own.
cp "$profile" "$tmp/profile-of-self"
profile=$tmp/profile-of-self
own='^profile-of-self;'

measure -F 999 -f --self 1
has "--self shows this process" "$own"
measure -F 999 -f 1
lacks "it is left out otherwise" "$own"
says "and that is told" '^own work: [1-9][0-9]* samples, left out \(--self shows it\)$'
measure --off-cpu --self -f 1
has "--self shows what it waits for" "$own"
measure --off-cpu -f 1
lacks "time off the CPU leaves it out" "$own"
says "and tells that" '^this process is left out \(--self shows it\)$'
unshare --pid --fork --mount-proc "$profile" -F 999 -f 1 >"$out" 2>"$err"
lacks "it is left out in a PID namespace of its own" "$own"
says "and that is told, too" '^own work: [1-9]'
measure -F 999 -f --name 'profile-of*' 1
has "a filter that wants it gets it" "$own"
finish
