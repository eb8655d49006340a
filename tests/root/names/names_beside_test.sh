#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debug files in containers: of their own programs, and what they cannot name: names_beside_test.sh BUILD
# timeout: 180
# kind: roots
. "$(dirname "$0")/../harness.bash" "$1"
. "$(dirname "$0")/../podman.bash"
known=';main;outer;middle;inner;burn(;|$)'

if ! why=$(has_podman) || ! command -v objcopy readelf >"$fate"; then
	skip "debug files in containers" "${why:-binutils is not installed}"
	finish
fi
at_exit=remove_all
me=stacktally-beside-$$
# stripped SOURCE NAME: a stripped copy of a program and $tmp/NAME.debug; $path is where its debug file belongs
stripped() {
	local build_id
	objcopy --only-keep-debug "$1" "$tmp/$2.debug"
	mkdir -p "$tmp/$2/bin"
	objcopy -S --add-gnu-debuglink="$tmp/$2.debug" "$1" "$tmp/$2/bin/nested"
	build_id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
	path=/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug
	mkdir -p "$tmp/$2${path%/*}"
}
# watch: samples until the container $pid has worked for half a second, and for $long seconds more: the kinds
# of mounts are known for ten seconds
long=0
watch() {
	sample -U -F 499 "$@"
	works "$pid" 50
	sleep "$long"
	sampled
}
# unnamed NAME: there are samples, and none has a name of the debug file
unnamed() {
	[ "$(total)" -gt 20 ] && [ "$(counted "$2")" -eq 0 ]
	check $? "$1" "$(counted "$2") of $(total): $(hottest | cut -c 1-200) $(tail -n 1 "$err")"
}

stripped "$programs/nested_static" own
cp "$tmp/own.debug" "$tmp/own$path"
image "$me-own" "$tmp/own"
contain "$me-1" "" "$me-own" /bin/nested || finish
long=12 watch --container "$me-1"
[ "$(counted "$known")" -gt $(($(total) * 9 / 10)) ]
check $? "functions have the names that /usr/lib/debug of the image has" "$(counted "$known") of $(total): $(hottest | cut -c 1-200)"
remove "$me-1"

rm "$tmp/own$path"
mkdir -p "$tmp/own/bin/.debug"
cp "$tmp/own.debug" "$tmp/own/bin/.debug/"
image "$me-link" "$tmp/own"
contain "$me-2" "" "$me-link" /bin/nested || finish
watch --container "$me-2"
[ "$(counted "$known")" -gt $(($(total) * 9 / 10)) ]
check $? "and those of a debug file that .gnu_debuglink names" "$(counted "$known") of $(total): $(hottest | cut -c 1-200)"
remove "$me-2"
rm -r "$tmp/own/bin/.debug"

# A link out of the container: in its root it leads nowhere.
chmod 755 "$tmp"
ln -s "../../../../../../../../..$tmp/own.debug" "$tmp/own$path"
image "$me-out" "$tmp/own"
contain "$me-3" "" "$me-out" /bin/nested || finish
watch --container "$me-3"
unnamed "a link to a file of the host names nothing" "$known"
remove "$me-3"
rm "$tmp/own$path"

# What others own, and what others can write to by a build-id alone; a FIFO, and a file without end.
image "$me-none" "$tmp/own"
put() { # put NAME COMMAND...: what makes $where in the root of a new container
	contain "$me-$1" "" "$me-none" /bin/nested || finish
	where=/proc/$pid/root$path
	"${@:2}"
	watch --container "$me-$1"
}
foreign() { cp "$tmp/own.debug" "$where" && chown 12345 "$where"; }
long=12 put 4 foreign
unnamed "a file of another owner names nothing" "$known"
remove "$me-4"
fifo() { mkfifo "$where"; }
put 5 fifo
unnamed "nor does a FIFO" "$known"
remove "$me-5"
endless() { truncate -s 1T "$where"; }
put 6 endless
unnamed "nor a file that is no ELF, of a terabyte" "$known"
remove "$me-6"

# Two containers of one image: what one of them says of the program that they share is not used.
if [ "$("${engine[@]}" info -f '{{.Store.GraphDriverName}}' 2>"$fate")" = overlay ]; then
	contain "$me-7" "" "$me-none" /bin/nested || finish
	one=$pid
	cp "$tmp/own.debug" "/proc/$one/root$path"
	contain "$me-8" "" "$me-none" /bin/nested || finish
	sample -U -F 499 --show-cgroup -p "$one,$pid"
	works "$one" 50
	works "$pid" 50
	sampled
	unnamed "a debug file that one container wrote does not name the functions of another" "$known"
else
	skip "a debug file that one container wrote does not name the functions of another" "podman has no overlayfs here"
fi
finish
