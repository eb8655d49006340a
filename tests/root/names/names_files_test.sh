#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose file is deleted or replaced while they are measured: names_files_test.sh BUILD
# timeout: 240
# kind: gone files
. "$(dirname "$0")/../harness.bash" "$1"
known=';main;outer;middle;inner;burn(;|$)'
work=$((300 * slow)) # ms
mounts=()
unmount() {
	local each
	for each in "${mounts[@]}"; do umount -l "$each" 2>>"$fate"; done
}
at_exit=unmount
# named NAME: most of the samples have their names
named() {
	named_work "$known"
	check $? "$1" "$(counted "$known") of $(total): $(hottest) $(tail -n 2 "$err")"
}
# while_measured NAME COMMAND...: measures the threads called NAME while the command runs, which
# starts that program and changes its file; the program has ended before the report
while_measured() {
	measure_command -F 999 -U --name "$1" -- bash -c '"$@"' sh "${@:2}"
}

# ---- the file and the process are gone before names are looked up
cat >"$tmp/upgrade.sh" <<'S'
# As a package upgrade: another file replaces that of the program, which then ends.
cp "$1" "$3/program" && "$3/program" "$4" >"$3/log" &
i=0; until grep -q ready "$3/log" 2>/dev/null; do i=$((i + 1)); [ $i -lt 500 ] || exit 1; sleep 0.01; done
cp "$2" "$3/new" && mv "$3/new" "$3/program"
wait
S
while_measured program bash "$tmp/upgrade.sh" "$programs/nested" "$programs/recursion" "$tmp" $work
named "a program that was replaced and has ended has its own names"
lacks "and none of the new one's" ';descend(;|$)'
cat >"$tmp/delete.sh" <<'S'
mkdir "$2/deep" && cp "$1" "$2/deep/program" && "$2/deep/program" "$3" >"$2/log2" &
i=0; until grep -q ready "$2/log2" 2>/dev/null; do i=$((i + 1)); [ $i -lt 500 ] || exit 1; sleep 0.01; done
rm -r "$2/deep"
wait
S
while_measured program bash "$tmp/delete.sh" "$programs/nested" "$tmp" $work
named "a program that was deleted and has ended has its names"
cat >"$tmp/overwrite.sh" <<'S'
# The same inode gets another content when the program has ended.
cp "$1" "$3/again" && "$3/again" "$4" >"$3/log3"
cat "$2" >"$3/again"
S
while_measured again bash "$tmp/overwrite.sh" "$programs/nested" "$programs/recursion" "$tmp" $work
lacks "a program whose file was overwritten after it ran has no names of the new one" ';(descend|burn)\+|;descend(;|$)'
[ "$(total)" -gt 10 ]
check $? "it has samples" "$(total) $(cat "$err")"
cat >"$tmp/unmount.sh" <<'S'
mkdir -p "$2/mounted" && mount -t tmpfs none "$2/mounted" && cp "$1" "$2/mounted/program" || exit 1
"$2/mounted/program" "$3" >"$2/log4"
umount "$2/mounted" 2>"$2/why" || umount -l "$2/mounted"
[ ! -e "$2/mounted/program" ]
S
while_measured program bash "$tmp/unmount.sh" "$programs/nested" "$tmp" $work
[ "$status" -eq 0 ]
check $? "(a file system is unmounted)" "exit status $status: $(cat "$err" "$tmp/why" 2>&1)"
named "a program on a file system that was unmounted has its names"
if unshare -m true 2>"$err"; then
	cat >"$tmp/namespace.sh" <<'S'
mkdir -p "$2/inner" && mount -t tmpfs none "$2/inner" && cp "$1" "$2/inner/program" || exit 1
"$2/inner/program" "$3" >"$2/log5"
S
	while_measured program unshare -m bash "$tmp/namespace.sh" "$programs/nested" "$tmp" $work
	[ ! -e "$tmp/inner/program" ]
	check $? "(a mount namespace is gone with its processes)" "$(ls "$tmp/inner")"
	named "a program in it has its names"
else
	skip "mount namespaces" "$(cat "$err")"
fi

# ---- other roots
mkdir -p "$tmp/lower" "$tmp/upper" "$tmp/work" "$tmp/merged"
cp "$programs/nested_static" "$tmp/lower/nested"
if mount -t overlay -o "lowerdir=$tmp/lower,upperdir=$tmp/upper,workdir=$tmp/work" none "$tmp/merged" 2>"$err"; then
	mounts+=("$tmp/merged")
	begin "$tmp/merged/nested" || finish
	measure -F 499 -f -p "$pid" $slow
	named "a program on an overlay has its names"
	mkdir "$tmp/merged/root" && cp "$tmp/merged/nested" "$tmp/merged/root/inside"
	end
	begin chroot "$tmp/merged/root" /inside || finish
	measure -F 499 -f -p "$pid" $slow
	named "the same in a chroot on it"
	end
else
	skip "a program on an overlay has its names" "$(cat "$err")"
fi
# Outside of the chroot the link leads to another file than inside.
mkdir -p "$tmp/jail/bin" "$tmp/jail$tmp"
cp "$programs/nested_static" "$tmp/jail/bin/real"
cp "$programs/recursion" "$tmp/decoy"
cp "$programs/nested_static" "$tmp/jail$tmp/decoy"
ln -s "$tmp/decoy" "$tmp/jail/bin/link"
begin chroot "$tmp/jail" /bin/link || finish
measure -F 499 -f -p "$pid" $slow
named "a link in a chroot leads to the file inside, not to ours of the same path"
end
# The program's file is replaced by a link that leads out of its root.
cp "$programs/nested_static" "$tmp/jail/bin/swapped"
begin chroot "$tmp/jail" /bin/swapped || finish
ln -sf "../../../../../..$tmp/decoy" "$tmp/jail/bin/swapped"
measure -F 499 -f -p "$pid" $slow
named "a program replaced by a link out of the chroot has its own names"
lacks "and none of the file to which the link leads" ';descend(;|$)'
end

# ---- the path of a program becomes something else than a file
for kind in fifo device directory; do
	cp "$programs/nested" "$tmp/becomes"
	begin "$tmp/becomes" || finish
	rm "$tmp/becomes"
	case $kind in
	fifo) mkfifo "$tmp/becomes" ;;
	device) mknod "$tmp/becomes" c 1 5 2>>"$fate" || { end; continue; } ;;
	directory) mkdir "$tmp/becomes" ;;
	esac
	timeout -k 1 $((20 * slow)) "$profile" -F 499 -f -p "$pid" $slow >"$out" 2>"$err"
	status=$?
	exits "a program whose path is now a $kind does not delay the report" 0
	named "it has its names"
	rm -rf "$tmp/becomes"
	end
	# When the process has ended, its mapping cannot be opened any more: the path is all there
	# is.
	cp "$programs/nested" "$tmp/becomes"
	begin "$tmp/becomes" $((1200 * slow)) || finish
	(
		until ! kill -0 "$pid" 2>>"$fate" || grep -q 'Sampling' "$out.live" 2>>"$fate"; do sleep 0.02; done
		rm "$tmp/becomes"
		case $kind in
		fifo) mkfifo "$tmp/becomes" ;;
		device) mknod "$tmp/becomes" c 1 5 ;;
		directory) mkdir "$tmp/becomes" ;;
		esac
	) &
	timeout -k 1 $((20 * slow)) "$profile" -F 499 -p "$pid" $((2 * slow)) >"$out.live" 2>"$err"
	status=$?
	exits "nor when the process has ended" 0
	says "(the process was sampled)" '^    -                becomes \(' "$out.live"
	wait $!
	rm -rf "$tmp/becomes"
	end
done
finish
