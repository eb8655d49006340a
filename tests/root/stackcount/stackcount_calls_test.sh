#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Events of a function are its calls, and what is not counted is said: stackcount_calls_test.sh BUILD
# timeout: 180
#
# It stands for reports that probes count too often (cold parts, Go's growing stacks, loops and
# labels at which no call arrives), or not at all (functions in C++ outside of namespaces, functions
# that the compiler renamed).
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"
have_uprobes || { skip "calls of user functions" "$no_uprobes" && finish; }
[ "$(uname -m)" = x86_64 ] || { skip "calls of user functions" "the program is of x86-64" && finish; }

entries=$programs/sc_entries
# calls NAME EVENTS FUNCTIONS [MESSAGE]: of the pattern NAME in a program that makes each call 100
# times. The message is on stderr; without one there is only the closing line.
calls() {
	count -o - -o "$folded" --format text --format folded "$entries:$1" -- "$entries" 100
	local n said
	n=$(sed -n 's/^Tracing \([0-9]*\) functions for .*/\1/p' "$out")
	said=$(grep -v ' events, .* lost$\|symbols' "$err")
	[ "$status" -eq 0 ] && [ "$n" = "$3" ] && [ "$(total "$folded")" -eq "$2" ] &&
		if [ -n "${4-}" ]; then grep -qE "$4" "$err"; else [ -z "$said" ]; fi
	check $? "calls of $1" "$n functions, $(total "$folded") counted, status $status: $(tail -n 3 "$err")"
}

# ---- the first byte is reached more often than a function is called
calls se_loop 100 1
calls se_two_exits 100 1
calls se_endless_check 100 1
calls se_again 300 1
grep -q ';main;se_loop 100$' <(count -f "$entries:se_loop" -- "$entries" 100 && cat "$out")
check $? "callers of a function that begins with a loop" "$(cat "$out")"

# ---- parts of functions
calls se_split 100 1
calls 'se_split*' 100 1
calls se_split.cold 50 1
fails 1 "cold parts alone" 'se_split.cold is a part of a function that is jumped into' \
	-D 1 "$entries:se_*.cold"
calls 'se_label*' 100 1
calls se_label_inside 900 1
fails 1 "a part of a function is not the function" 'did you mean se_part.part.0\?$' -D 1 "$entries:se_part"

# ---- functions that the compiler made from others
calls se_made 200 2 'counted: se_made\.[a-z]*\.[01]; the compiler made it from se_made'
calls se_both 100 1 'not counted: se_both.constprop.0, '
calls 'se_both*' 200 2

# ---- readable names
calls global 200 2
calls 'global(int)' 100 1
calls 'global()' 100 1
calls 'glob*' 200 2
calls twice 100 1
calls 'twice<int>' 100 1
calls 'twice<int>(int)' 100 1
fails 1 "a readable name that is misspelt" 'did you mean global' -D 1 "$entries:globel"

fails 1 "a function with other arguments" 'did you mean (.*, )?global\(int\)' -D 1 "$entries:global(std::string const&)"
fails 1 "a function of another namespace" 'did you mean (.*)twice<int>' -D 1 "$entries:a::b::twice"

# ---- Go
if command -v go >/dev/null; then
	cat >"$tmp/grow.go" <<-'END'
		package main

		import "sync"

		var sink byte

		//go:noinline
		func deep(n int) byte {
			var a [8192]byte
			a[n%8192] = byte(n)
			for i := range a {
				sink += a[i]
			}
			return a[(n*7)%8192]
		}

		func main() {
			var w sync.WaitGroup
			for i := 0; i < 200; i++ {
				w.Add(1)
				go func(i int) { sink += deep(i); w.Done() }(i)
			}
			w.Wait()
		}
	END
	(cd "$tmp" && HOME=$tmp GOCACHE=$tmp/go GO111MODULE=off GOTOOLCHAIN=local go build -o grow grow.go &&
		GOCACHE=$tmp/go HOME=$tmp GO111MODULE=off GOTOOLCHAIN=local go build -ldflags '-s -w' -o stripped grow.go) 2>"$err"
	for program in grow stripped; do
		count -q -f "$tmp/$program:main.deep" -- "$tmp/$program"
		is "calls in Go whose stacks grow, of $program" "$(total "$out")" 200
	done
	fails 1 "a misspelt function of a stripped Go program" 'did you mean main.deep' -D 1 "$tmp/stripped:main.deap"
else
	skip "calls in Go" "there is no go"
fi
finish
