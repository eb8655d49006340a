#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Containers whose files did not respond when they were met first: names_containers_late_test.sh BUILD
# timeout: 150
# all: files that did not respond are asked again after half a minute
# kind: roots
. "$(dirname "$0")/../harness.bash" "$1"

mount=$(awk '{ for (i = 7; i <= NF; i++) if ($i == "-" && $(i + 1) == "cgroup2" && $4 == "/") {
	print $5; exit } }' /proc/self/mountinfo)
top=$mount/stacktally-late.$$
if [ ! -c /dev/fuse ] || ! grep -qw fuse /proc/filesystems; then
	skip "files of containers that respond later" "this kernel has no FUSE"
	finish
fi
if [ -z "$mount" ] || ! mkdir "$top" 2>"$err" || ! unshare -m true 2>>"$err"; then
	skip "files of containers that respond later" "cgroup v2 or namespaces cannot be used: $(cat "$err")"
	finish
fi
clean() {
	local each
	{ kill -KILL "${started[@]}" && wait; } 2>>"$fate"
	umount -l "$tmp/mount" 2>>"$fate"
	find "$top" -depth -type d | while read -r each; do await 5 rmdir "$each" 2>>"$fate"; done
}
at_exit=clean

# Docker keeps the files of one container on a file system whose server has stopped.
id() { printf "%.0s$1" {1..64}; }
within() {
	mkdir -p "$top/$1"
	sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2"' sh "$top/$1" "$programs/nested" >"$fate" &
	started+=($!)
}
mkdir "$tmp/mount"
echo '{"Config":{"Image":"shop:7"},"Name":"/shop"}' >"$tmp/config.json"
begin "$programs/dead_mount" "$tmp/mount" "$tmp/config.json" || finish
server=$pid
within "docker-$(id a).scope"
within "docker-$(id b).scope"
cat >"$tmp/inside.sh" <<'I'
profile=$1 tmp=$2 top=$3 seconds=$4
id() { printf "%.0s$1" {1..64}; }
docker=/var/lib/docker/containers
mount -t tmpfs none /var/lib && mkdir -p $docker/$(id a) $docker/$(id b) || exit 1
echo '{"Name":"/other"}' >$docker/$(id b)/config.v2.json
ln -s "$tmp/mount/program" $docker/$(id a)/config.v2.json
exec "$profile" -F 99 -f --show-cgroup --cgroup "$top" "$seconds"
I
kill -STOP "$server"
unshare -m bash "$tmp/inside.sh" "$profile" "$tmp" "$top" 1 >"$out" 2>"$err"
says "that names are missing is told" '1 container has no names: files of their runtimes did not respond'
unshare -m bash "$tmp/inside.sh" "$profile" "$tmp" "$top" 36 >"$out" 2>"$err" &
sampler=$!
sleep 15
kill -CONT "$server"
wait "$sampler"
status=$?
exits "files that do not respond do not keep the report from being made" 0
below=/stacktally-late.$$
for each in a:shop b:other; do
	group=docker-$(id "${each%:*}").scope
	all=$(counted "^$below/$group( \\(|;)")
	[ "$all" -gt 0 ] && [ "$(counted "^$below/$group \\(${each#*:}\\);")" -eq "$all" ]
	check $? "the container ${each#*:} has its name" "$all; $(cut -c 1-300 "$out" | tail -n 1)"
done
finish
