#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A user's file that has the build-id and the size of root's, and other names:
# names_forged_test.sh BUILD
# kind: strangers
. "$(dirname "$0")/../harness.bash" "$1"
uid=1001
mounts=()
unmount() {
	local at
	for ((at = ${#mounts[@]} - 1; at >= 0; at--)); do umount -l "${mounts[at]}" 2>>"$fate"; done
}
at_exit=unmount
if ! command -v setpriv >"$fate"; then
	skip "all" "setpriv is not installed"
	finish
fi
chmod 755 "$tmp"
[ -z "${TMPDIR-}" ] || chmod 711 "$TMPDIR"
install -m 755 "$programs/nested" "$tmp/original"
sed 's/\bmiddle\b/forged/g' "$tmp/original" >"$tmp/forgery"
chown $uid "$tmp/forgery"
chmod 755 "$tmp/forgery"
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
[ "$(build_id "$tmp/original")" = "$(build_id "$tmp/forgery")" ] && [ -n "$(build_id "$tmp/original")" ] &&
	! cmp -s "$tmp/original" "$tmp/forgery"
check $? "the forgery has the same build-id and other bytes" "$(build_id "$tmp/original")"

# The forgery runs first, so that its file is seen first.
begin setpriv --reuid $uid --regid $uid --clear-groups "$tmp/forgery" 600000 || finish
begin "$tmp/original" 600000 || finish
sample -F 499 -U --name '[fo]*r*g*'
works "$pid" 30
sampled
lacks "root's process has none of the forgery's names" '^original;.*;forged'
has "... but its own" '^original;.*;main;outer;middle;inner'
has "the forgery's process has the names in its file" '^forgery;.*;main;outer;forged;inner'
lacks "... and none of root's" '^forgery;.*;middle'

# ---- a debug file next to a path that exists for the user's own mounts only
if ! setpriv --reuid $uid --regid $uid --clear-groups unshare -Urm true 2>"$fate"; then
	skip "debug files at paths that a user made" "users cannot have mount namespaces here"
else
	objcopy --only-keep-debug "$programs/nested" "$tmp/victim.debug"
	objcopy --strip-all --add-gnu-debuglink="$tmp/victim.debug" "$programs/nested" "$tmp/victim"
	chmod 755 "$tmp/victim"
	mkdir "$tmp/theirs"
	sed 's/\bmiddle\b/forged/g' "$tmp/victim.debug" >"$tmp/theirs/victim.debug"
	rm "$tmp/victim.debug"
	: >"$tmp/theirs/victim"
	chown -R $uid "$tmp/theirs"
	# shellcheck disable=SC2016 # the inner shell expands these
	begin setpriv --reuid $uid --regid $uid --clear-groups unshare -Urm bash -c \
		'mount --bind "$1/victim" "$1/theirs/victim" && exec "$1/theirs/victim" 600000' sh "$tmp" || finish
	begin "$tmp/victim" 600000 || finish
	sample -F 499 -U --name 'vict*'
	works "$pid" 30
	sampled
	has "both processes are sampled" '^victim;'
	lacks "a user's debug file names no file of root" ';forged'
fi

# ---- a path that is root's for the forger's mounts only
# In a mount namespace of its own the forgery has the path of root's file, too, and starts first.
if setpriv --reuid $uid --regid $uid --clear-groups unshare -Urm true 2>"$fate"; then
	ln -s original "$tmp/liar"
	sample -F 499 -U --name '[ol]*'
	begin setpriv --reuid $uid --regid $uid --clear-groups unshare -Urm bash -c \
		'mount --bind "$1/forgery" "$1/original" && exec "$1/liar" 600000' - "$tmp" || finish
	works "$pid" 30
	begin "$tmp/original" 600000 || finish
	works "$pid" 30
	sampled
	has "the forgery in root's place has its own names" '^liar;.*;main;outer;forged;inner'
	lacks "root's process has none of them" '^original;.*;forged'
	has "... but its own, all the same" '^original;.*;main;outer;middle;inner'
else
	skip "a forgery in the place of root's file" "users have no user namespaces here"
fi

# ---- names for generated code, of a user who is neither root nor that of its process
begin "$programs/names_jit" 0 && {
	map=/tmp/perf-$pid.map
	echo "0 7fffffffffff forged" >"$map"
	chown $uid "$map"
	sample -F 499 -U -p "$pid"
	works "$pid" 30
	sampled
	rm -f "$map"
	end
	lacks "another user's perf map names nothing" 'forged'
	says "... and that is said" "^generated code has no names: perf-$pid[.]map in /tmp belongs to uid $uid, and only the user of its process, and root, may name its code"
}

# ---- the same device and inode, as maps has them: layers of an overlay number inodes on their own
layer() { mkdir -p "$1" && mount -t tmpfs -o mode=755 none "$1" && mounts+=("$1"); }
mkdir "$tmp/merged"
if layer "$tmp/upper" 2>"$err" && layer "$tmp/lower" 2>"$err" && install -m 755 "$tmp/original" "$tmp/upper/" &&
	cp -p "$tmp/forgery" "$tmp/lower/" &&
	mount -t overlay -o "lowerdir=$tmp/upper:$tmp/lower,xino=off" none "$tmp/merged" 2>"$err"; then
	mounts+=("$tmp/merged")
	[ "$(stat -c %i "$tmp/upper/original")" = "$(stat -c %i "$tmp/lower/forgery")" ]
	check $? "two files have the same inode number" "$(stat -c '%n %d:%i' "$tmp"/merged/*)"
	begin setpriv --reuid $uid --regid $uid --clear-groups "$tmp/merged/forgery" 600000 || finish
	sample -F 499 -U --name '[fo]*r*g*'
	works "$pid" 30
	begin "$tmp/merged/original" 600000 || finish
	works "$pid" 30
	sampled
	lacks "another layer's file of that number names no file of root" '^original;.*;forged'
	has "... which has its own names" '^original;.*;main;outer;middle;inner'
	has "... and so has the other" '^forgery;.*;main;outer;forged;inner'
else
	skip "files of one inode number" "no overlay: $(cat "$err")"
fi

# ---- copies that only root can write count as one file, as in containers
install -m 755 "$programs/nested" "$tmp/other"
begin "$tmp/other" 600000 || finish
sample -F 499 -U --name 'o*'
works "$pid" 30
sampled
has "a copy of root's has its names" '^other;.*;main;outer;middle;inner'
finish
