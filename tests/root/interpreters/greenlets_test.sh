#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The stack of a greenlet ends where the greenlet began, with a reason: a report of stacks that go on into the
# frames of others: greenlets_test.sh BUILD
# timeout: 60
# kind: switched stacks
. "$(dirname "$0")/../harness.bash" "$1"
python=/usr/bin/python3
if ! $python -c 'import greenlet' 2>"$fate"; then
	skip "greenlets" "there is no python3-greenlet"
	finish
fi
cat >"$tmp/switches.py" <<'END'
import greenlet, time
def burn(n):
    return sum(i * i for i in range(n))
def odd():
    while True:
        burn(3000)
        main.switch()
def even_deeper():
    while True:
        burn(3000)
        main.switch()
def even():
    even_deeper()
main = greenlet.getcurrent()
def deep(n):
    if n:
        return deep(n - 1)
    end = time.time() + 1.5
    while time.time() < end:
        for one in both:
            one.switch()
both = [greenlet.greenlet(odd), greenlet.greenlet(even)]
both[0].switch()  # it begins here, and goes on from deep()
deep(5)
END
measure_command -U -f -F 499 -- $python "$tmp/switches.py"
in_both=$(counted ';(odd|even_deeper) \(switches.py\)')
[ "$in_both" -gt 20 ] && [ "$(counted '\[unwind: a fiber began\].*;(odd|even_deeper) \(switches.py\)')" -eq "$in_both" ]
check $? "all stacks of greenlets end where these began" "$in_both: $(hottest) $(tail -n 1 "$err")"
lacks "no function of others is in them" 'deep .*(odd|even)|odd .*even|even .*odd'
lacks "no frame is unmatched" 'unmatched.*;(odd|even)'
finish
