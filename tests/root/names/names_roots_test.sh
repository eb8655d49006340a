#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Symbols in containers of Podman: roots of Debian and of musl, an empty one, files that are replaced
# and deleted, user namespaces, chroot, two of one image, one that has ended; and functions of a
# container's own libraries: names_roots_test.sh BUILD
# timeout: 240
# kind: roots
. "$(dirname "$0")/../stackcount.bash" "$1"
. "$(dirname "$0")/../podman.bash"
known=';main;outer;middle;inner;burn(;|$)'
top=$(cd "$(dirname "$0")/../.." && pwd)

if ! why=$(has_podman); then
	skip "symbols in containers" "$why"
	finish
fi
at_exit=remove_all
me=stacktally-roots-$$
# watch PID... -- OPTION...: samples until each of these processes has worked for half a second
watch() {
	local pids=()
	while [ "$1" != -- ]; do pids+=("$1") && shift; done
	sample -U -F 499 "${@:2}"
	for each in "${pids[@]}"; do works "$each" 50; done
	sampled
}
# named NAME: most of the samples have their names
named() {
	named_work "$known"
	check $? "$1" "$(counted "$known") of $(total): $(hottest | cut -c 1-200) $(tail -n 2 "$err")"
}

# ---- Debian: glibc, and /bin/chroot for a root in the root
root_of "$tmp/debian" "$programs/nested" "$programs/recursion" "$(command -v chroot)"
root_of "$tmp/debian/inner" "$programs/nested"
image "$me-debian" "$tmp/debian"
contain "$me-1" "" "$me-debian" /bin/nested || finish
one=$pid
watch "$one" -- --container "$me-1"
named "in a root of Debian"
contain "$me-2" "" "$me-debian" /bin/nested || finish
two=$pid
tables() {
	"$profile" -U -F 499 -p "$1" --format json $slow 2>"$err" | grep -o '"tables":[0-9]*'
}
[ "$(tables "$one")" = "$(tables "$one,$two")" ]
check $? "two containers of one image share tables" "$(tables "$one"), $(tables "$one,$two")"
watch "$one" "$two" -- --show-cgroup -p "$one,$two"
[ "$(counted "\\($me-1\\);nested;.*;burn")" -gt 5 ] && [ "$(counted "\\($me-2\\);nested;.*;burn")" -gt 5 ]
check $? "and are told apart" "$(cut -c 1-150 "$out" | tail -n 2)"
mv "/proc/$two/root/bin/recursion" "/proc/$two/root/bin/nested"
watch "$two" -- -p "$two"
named "a file in the upper layer has replaced the program's"
lacks "its names are not used" ';descend(;|$)'
rm "/proc/$one/root/bin/nested"
watch "$one" -- -p "$one"
named "the program's file is deleted"
contain "$me-3" "" "$me-debian" /bin/chroot /inner /bin/nested || finish
watch "$pid" -- -p "$pid"
named "in a chroot in a container"
if contain "$me-4" "--uidmap 0:200000:65536 --gidmap 0:200000:65536" "$me-debian" /bin/nested; then
	[ "$(stat -c %u "/proc/$pid")" = 200000 ]
	check $? "(a process is in a user namespace)" "uid $(stat -c %u "/proc/$pid")"
	watch "$pid" -- --container "$me-4"
	named "in a user namespace"
fi
sample -U -F 499 --show-cgroup --name nested --container "$me-5*"
contain "$me-5" "" "$me-debian" /bin/nested $((500 * slow)) || finish
"${engine[@]}" wait "$me-5" >"$tmp/podman.log"
remove "$me-5"
sampled
named "in a container that has come, ended and is removed"

# ---- functions of an interpreter's programs
python=$(command -v /usr/bin/python3.11 /usr/bin/python3.13 | head -n 1)
if [ -n "$python" ]; then
	root_of "$tmp/python" "$python"
	library=usr/lib/${python##*/}
	mkdir -p "$tmp/python/usr/bin" "$tmp/python/$library"
	mv "$tmp/python/bin/${python##*/}" "$tmp/python/usr/bin/"
	cp -r "/$library/encodings" "/$library/os.py" "$tmp/python/$library/"
	image "$me-python" "$tmp/python"
	contain "$me-9" "" "$me-python" "$python" -I -S -c 'def inner():
    return sum(range(1000))
def outer():
    while True: inner()
outer()' || finish
	watch "$pid" -- --container "$me-9"
	has "functions of a Python program in a container" ';outer [(]<string>[)];inner [(]<string>[)](;|$)'
	remove "$me-9"
else
	skip "functions of a Python program in a container" "neither of Debian's Pythons is there"
fi

# ---- nothing but the program; musl
root_of "$tmp/empty" "$programs/nested_static"
image "$me-empty" "$tmp/empty"
contain "$me-6" "" "$me-empty" /bin/nested_static || finish
watch "$pid" -- -p "$pid"
named "a static program in an image of nothing else"
remove "$me-6"
if command -v musl-gcc >"$fate" &&
	mkdir -p "$tmp/musl/bin" "$tmp/musl/lib" &&
	musl-gcc -O0 -g0 -I"$top/workloads" -o "$tmp/musl/bin/nested" "$top/workloads/nested.c" 2>"$err"; then
	cp -L /lib/ld-musl-x86_64.so.1 "$tmp/musl/lib/"
	image "$me-musl" "$tmp/musl"
	contain "$me-7" "" "$me-musl" /bin/nested || finish
	watch "$pid" -- --container "$me-7"
	named "in a root of musl"
	remove "$me-7"
else
	skip "in a root of musl" "musl-gcc: $(tail -n 1 "$err")"
fi
if node=$("$top/musl_node" 24.15.0 2>"$err"); then
	image "$me-node" "$node"
	contain "$me-10" "" "$me-node" /usr/bin/node -e 'function inner() { let sum = 0; for (let i = 0; i < 1e5; i++) sum += i; return sum }
function outer() { for (;;) inner() }
outer()' || finish
	watch "$pid" -- --container "$me-10"
	has "functions of a JavaScript program in a root of musl" ';outer [(]\[eval\][)];inner [(]\[eval\][)](;|$)'
	remove "$me-10"
else
	skip "functions of a JavaScript program in a root of musl" "$(tail -n 1 "$err")"
fi

# ---- functions of a container's own library
if have_uprobes; then
	cat >"$tmp/calls.c" <<'C'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	for (;;) {
		free(malloc(10));
		usleep(1000);
	}
}
C
	gcc -O0 -o "$tmp/calls" "$tmp/calls.c" && root_of "$tmp/calling" "$tmp/calls"
	image "$me-calling" "$tmp/calling"
	contain "$me-8" "" "$me-calling" /bin/calls || finish
	"$tmp/calls" & # our libc is another file
	started+=($!)
	count -f -P -D $slow --container "$me-8" c:malloc
	[ "$(total)" -gt 50 ] && [ "$(counted '^calls;')" -eq "$(total)" ]
	check $? "stackcount --container NAME c:malloc counts calls of that container's libc" \
		"$(total): $(cut -c 1-150 "$out" | tail -n 2) $(tail -n 2 "$err")"
	{ kill $! && wait $!; } 2>>"$fate"
	count -f -P -D $slow --container "$me-8" c:malloc
	[ "$(total)" -gt 50 ]
	check $? "which are not those of ours" "$(total): $(tail -n 2 "$err")"
	remove "$me-8"
	cat >"$tmp/throws.cc" <<'C'
#include <unistd.h>
int main()
{
	for (;;) {
		try {
			throw 1;
		} catch (int) {
		}
		usleep(1000);
	}
}
C
	g++ -O0 -o "$tmp/throws" "$tmp/throws.cc" && root_of "$tmp/throwing" "$tmp/throws"
	image "$me-throwing" "$tmp/throwing"
	contain "$me-10" "" "$me-throwing" /bin/throws || finish
	"$tmp/throws" &
	started+=($!)
	count -f -P -D $slow --container "$me-10" u:stdc++:throw
	[ "$(total)" -gt 20 ] && [ "$(counted '^throws;.*;main;')" -eq "$(total)" ]
	check $? "stackcount --container NAME u:stdc++:throw counts at a USDT probe of that container's library" \
		"$(total): $(cut -c 1-150 "$out" | tail -n 2) $(tail -n 2 "$err")"
	{ kill $! && wait $!; } 2>>"$fate"
	count -f -P -D $slow --container "$me-10" u:stdc++:throw
	[ "$(total)" -gt 20 ]
	check $? "not of ours" "$(total): $(tail -n 2 "$err")"
	count -f -P -D 1 --container "$me-10" nothing:malloc
	says "a library that is not in it is looked for among its others" \
		"maps no library nothing: counted is malloc of /.*libc"
fi
finish
