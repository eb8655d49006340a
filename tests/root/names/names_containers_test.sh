#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The names of containers and pods, from what runtimes leave on disk: names_containers_test.sh BUILD
# timeout: 180
# kind: roots
. "$(dirname "$0")/../harness.bash" "$1"
. "$(dirname "$0")/../podman.bash"

mount=$(awk '{ for (i = 7; i <= NF; i++) if ($i == "-" && $(i + 1) == "cgroup2" && $4 == "/") {
	print $5; exit } }' /proc/self/mountinfo)
top=$mount/stacktally-names.$$
if [ -z "$mount" ] || ! mkdir "$top" 2>"$err" || ! unshare -m true 2>>"$err"; then
	skip "names of containers" "cgroup v2 or namespaces cannot be used: $(cat "$err")"
	finish
fi
clean() {
	local each
	{ kill -KILL "${started[@]}" && wait; } 2>>"$fate"
	remove_all
	find "$top" -depth -type d | while read -r each; do await 5 rmdir "$each" 2>>"$fate"; done
}
at_exit=clean

# ---- what each runtime leaves; the files lie in a mount namespace of their own
# id LETTER: the 64 digits of a container
id() { printf "%.0s$1" {1..64}; }
uid=01234567-89ab-cdef-0123-456789abcdef low=01234567_89ab_cdef_0123_456789abcdef
# within CGROUP: a process works in that new cgroup
within() {
	mkdir -p "$top/$1"
	sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2"' sh "$top/$1" "$programs/nested" >"$fate" &
	started+=($!)
}
within "docker-$(id d).scope"
within "docker-$(id d).scope/docker-$(id e).scope" # a container may call its groups as it likes
within "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$low.slice/cri-containerd-$(id c).scope"
within "crio-$(id f).scope"
within "kubepods/pod${uid/0/f}/$(id 0)" # only the kubelet's directory of logs tells
users=user.slice/user-12345.slice/user@12345.service/user.slice
within "$users/libpod-$(id a).scope/container"
within "$users/docker-$(id 8).scope"
within "$users/docker-$(id d).scope" # a user may, too
within "$users/docker-$(id f).scope"
within "user.slice/user-12346.slice/docker-$(id b).scope" # whose list is a link to one of root
within "system.slice/delegated.service/docker-$(id d).scope" # and so may whom a service runs as
chown -R 12345 "$top/user.slice/user-12345.slice" "$top/system.slice/delegated.service"
chown -R 12346 "$top/user.slice/user-12346.slice"
chown 100000 "$top/docker-$(id d).scope/docker-$(id e).scope" # user namespaces have others
within "lxc.payload.box"
within "lxc.payload.a"$'\e[2J'"(b"
within "docker-$(id 1).scope" # a FIFO
within "docker-$(id 2).scope" # endless
within "docker-$(id 3).scope" # huge
within "docker-$(id 4).scope" # of another owner
within "docker-$(id 5).scope" # control characters
within "docker-$(id 6).scope" # a path
within "docker-$(id 7).scope" # a directory

cat >"$tmp/inside.sh" <<'S'
profile=$1 tmp=$2 seconds=$3 uid=$4 top=$5
id() { printf "%.0s$1" {1..64}; }
for each in /run /var/lib /var/log; do mount -t tmpfs none $each || exit 1; done
mount --bind "$tmp/passwd" /etc/passwd
docker=/var/lib/docker/containers tasks=/run/containerd/io.containerd.runtime.v2.task/k8s.io
file() { mkdir -p "${1%/*}" && cat >"$1"; }
file $docker/$(id d)/config.v2.json <<<'{"Config":{"Image":"shop:7"},"Name":"/shop"}'
file $docker/$(id e)/config.v2.json <<<'{"Name":"/other"}'
file $tasks/$(id c)/config.json <<<'{"annotations":{"io.kubernetes.cri.container-name":"web",
	"io.kubernetes.cri.sandbox-name":"web-1","io.kubernetes.cri.sandbox-namespace":"prod"}}'
file /run/containers/storage/overlay-containers/$(id f)/userdata/config.json <<<'{"annotations":{
	"io.kubernetes.container.name":"db","io.kubernetes.pod.name":"db-1","io.kubernetes.pod.namespace":"prod"}}'
mkdir -p /var/log/pods/{a_b_c,prod_logs-1_${uid/0/f},"x y_z_$uid"}
lists=$tmp/home/.local/share/containers/storage/overlay-containers
file $lists/containers.json <<<"[{\"id\":\"$(id a)\",\"names\":[\"mine\"]},{\"id\":\"$(id d)\",\"names\":[\"false\"]}]"
chown 12345 $lists/containers.json
file $tmp/home/.local/share/docker/containers/$(id 8)/config.v2.json <<<'{"Name":"/rootless","Config":{"Image":"box:8"}}'
chown 12345 $tmp/home/.local/share/docker/containers/$(id 8)/config.v2.json
linked=$tmp/linked/.local/share/containers/storage/overlay-containers
mkdir -p $linked && chown -R 12346 "$tmp/linked"
file $tmp/root.json <<<"[{\"id\":\"$(id b)\",\"names\":[\"secret\"]}]"
chmod 600 "$tmp/root.json" && ln -s "../../../../../../../../../..$tmp/root.json" $linked/containers.json
for each in 1 2 3 4 5 6 7; do mkdir -p $docker/$(id $each); done
mkfifo $docker/$(id 1)/config.v2.json
ln -s /dev/zero $docker/$(id 2)/config.v2.json
{ printf '{"x":"'; head -c 20000000 /dev/zero | tr '\0' x; printf '","Name":"/huge"}'; } >$docker/$(id 3)/config.v2.json
file $docker/$(id 4)/config.v2.json <<<'{"Name":"/foreign"}'
chown 12345 $docker/$(id 4)/config.v2.json
file $docker/$(id 5)/config.v2.json <<<'{"Name":"/a\u001b[2J\nb;c\u0000d"}'
file $docker/$(id 6)/config.v2.json <<<'{"Name":"/../../etc/passwd"}'
mkdir $docker/$(id 7)/config.v2.json
exec "$profile" -F 499 --show-cgroup --cgroup "$top" -o "$tmp/names.folded" -o "$tmp/names.json" \
	-o "$tmp/names.pb.gz" -o "$tmp/names.stacktally" -o "$tmp/names.html" "$seconds"
S
{
	cat /etc/passwd
	echo "somebody:x:12345:12345::$tmp/home:/bin/sh"
	echo "somebody-else:x:12346:12346::$tmp/linked:/bin/sh"
} >"$tmp/passwd"
chmod 755 "$tmp"
timeout $((60 * slow)) unshare -m bash "$tmp/inside.sh" "$profile" "$tmp" $((3 * slow)) "$uid" "$top" 2>"$err"
status=$?
exits "files that are no files, endless or huge do not delay the report" 0
out=$tmp/names.folded
below=/stacktally-names.$$
# named NAME CGROUP NAMES: the stacks of that cgroup have these names, and no others
named() {
	local all
	all=$(counted "^$below/$2( \\(|;)")
	[ "$all" -gt 0 ] && [ "$(counted "^$below/$2$3;")" -eq "$all" ]
	check $? "$1" "$all; $(grep -F "$below/${2%%/*}" "$out" | cut -c 1-300 | tail -n 1)"
}
named "a container of Docker has its name" "docker-$(id d).scope" ' \(shop\)'
named "and keeps it in cgroups of its own, whatever it calls them" \
	"docker-$(id d).scope/docker-$(id e).scope" ' \(shop\)'
named "containerd: namespace, pod and container" \
	"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$low.slice/cri-containerd-$(id c).scope" \
	' \(prod/web-1/web\)'
named "CRI-O: the same" "crio-$(id f).scope" ' \(prod/db-1/db\)'
named "the kubelet's directory of logs names a pod" "kubepods/pod${uid/0/f}/$(id 0)" ' \(prod/logs-1/000000000000\)'
named "a user's Podman" "$users/libpod-$(id a).scope/container" ' \(mine\)'
named "a user's Docker" "$users/docker-$(id 8).scope" ' \(rootless\)'
named "a user's cgroup does not get the name of root's container" "$users/docker-$(id d).scope" ' \(false\)'
named "nor that of a pod of root" "$users/docker-$(id f).scope" ''
named "nor does that of a service that runs as a user" \
	"system.slice/delegated.service/docker-$(id d).scope" ' \(false\)'
named "a user's list that is a link to a file of root names nothing" \
	"user.slice/user-12346.slice/docker-$(id b).scope" ''
named "LXC: the name in the path" "lxc.payload.box" ' \(box\)'
named "a cgroup's name with control characters and a parenthesis" "lxc.payload.a\?\[2J\(b" ' \(a\?\[2J\?b\)'
named "a FIFO names nothing" "docker-$(id 1).scope" ''
named "an endless file names nothing" "docker-$(id 2).scope" ''
named "a huge one names nothing" "docker-$(id 3).scope" ''
named "nor does a file of another owner" "docker-$(id 4).scope" ''
named "control characters in a name do not reach the report" "docker-$(id 5).scope" ' \(a\?\[2J\?b:c.*d\)'
named "a name with .. is a name, and none of several" "docker-$(id 6).scope" ' \(\.\.\?\.\.\?etc\?passwd\)'
named "a directory names nothing" "docker-$(id 7).scope" ''
python3 - "$tmp/names.json" <<'E2' >"$tmp/log" 2>&1
import json, sys
stacks = json.load(open(sys.argv[1]))["stacks"]
web = [s for s in stacks if s.get("k8s.pod.name") == "web-1"]
assert web and all(s["k8s.namespace.name"] == "prod" and s["k8s.container.name"] == "web" and
                   s["container.name"] == "web" and "cri-containerd" in s["cgroup"] and
                   s["k8s.pod.uid"] == "01234567-89ab-cdef-0123-456789abcdef" for s in web), web[:1]
shop = [s for s in stacks if s.get("container.name") == "shop"]
assert shop and all(s["container.image.name"] == "shop:7" and s["container.id"] == 64 * "d" for s in shop), shop[:1]
E2
check $? "JSON has them by OpenTelemetry's names" "$(tail -n 1 "$tmp/log")"
python3 - "$tmp/names.json" <<'E2' >"$tmp/log" 2>&1
import json, sys
stacks = json.load(open(sys.argv[1]))["stacks"]
for end, identity in (("/libpod-" + 64 * "a" + ".scope/container", 64 * "a"), ("/docker-" + 64 * "8" + ".scope", 64 * "8"),
                      ("@12345.service/user.slice/docker-" + 64 * "d" + ".scope", None),
                      ("@12345.service/user.slice/docker-" + 64 * "f" + ".scope", None),
                      ("/delegated.service/docker-" + 64 * "d" + ".scope", None),
                      ("/docker-" + 64 * "e" + ".scope", 64 * "d")):
    found = {s.get("container.id") for s in stacks if (s["cgroup"] or "").endswith(end)}
    assert found == {identity}, (end, found)
E2
check $? "the id of root's container is not that of a user's cgroup, whatever his files say" "$(tail -n 1 "$tmp/log")"
gzip -dc "$tmp/names.pb.gz" | strings >"$tmp/strings"
for each in container.name container.image.name shop:7 k8s.pod.name web-1 k8s.namespace.name container.id; do
	grep -qF "$each" "$tmp/strings" || echo "$each"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
check $? "pprof has them as labels" "$(cat "$tmp/log")"
"$profile" --from "$tmp/names.stacktally" -f --show-cgroup 2>"$err" | sort >"$tmp/again"
sort "$out" | cmp -s - "$tmp/again"
check $? "a recording keeps them" "$(diff <(sort "$out") "$tmp/again" | head -n 2 | cut -c 1-200)"
{ kill -KILL "${started[@]}" && wait; } 2>>"$fate"

# ---- from a container of the host's PID namespace: the files are in the root of process 1, and not in ours
within "docker-$(id d).scope"
cat >"$tmp/first.sh" <<'S'
profile=$1 tmp=$2 box=$2/box seconds=$3 group=$4 port=$5
docker=/var/lib/docker/containers/$(printf "%.0sd" {1..64})
mount -t tmpfs none /var/lib && mkdir -p "$docker" || exit 1
echo '{"Config":{"Image":"shop:7"},"Name":"/shop"}' >"$docker/config.v2.json"
readlink /proc/1/root && mkdir -p "$box"/{bin,proc,sys,tmp} && cp "$profile" "$box/bin/" || exit 1
mount --rbind /proc "$box/proc" && mount --rbind /sys "$box/sys" && [ $$ = 1 ] || exit 1
unshare -m chroot "$box" /bin/profile -F 499 -o /tmp/boxed.folded --show-cgroup --cgroup "$group" \
	--push "otlp+http://127.0.0.1:$port" "$seconds"
S
here=$(cd "$(dirname "$0")/../../push" && pwd)
mkdir "$tmp/engine"
echo take >"$tmp/engine/plan"
mkfifo "$tmp/engine/port"
python3 "$here/engine.py" "$tmp/engine" >"$tmp/engine/port" 2>"$tmp/engine.err" &
started+=($!)
read -r port <"$tmp/engine/port"
unshare -pfm --kill-child --mount-proc bash "$tmp/first.sh" "$(realpath "$profile")" "$tmp" $slow "$top" "$port" >"$tmp/log" 2>"$err"
status=$?
exits "a container measures, with a root of its own" 0
out=$tmp/box/tmp/boxed.folded
named "names are looked for in the root of process 1" "docker-$(id d).scope" ' \(shop\)'
if command -v protoc >"$fate"; then
	"$here/decode.py" otlp "$tmp"/engine/*.body >"$tmp/sent.json" 2>"$err"
	python3 - "$tmp/sent.json" "$(id d)" <<'E2' >"$tmp/log" 2>&1
import json, sys
labels = [l for l, n in json.load(open(sys.argv[1]))["labels"]]
assert labels, "no samples"
for each in labels:
    found = [each.get(key) for key in ("container.id", "container.name", "container.image.name")]
    assert found == [sys.argv[2], "shop", "shop:7"], each
E2
	check $? "what it pushes has them as OTLP's attributes" "$(tail -n 1 "$err" "$tmp/log")"
else
	skip "what it pushes has them as OTLP's attributes" "protoc is not installed"
fi
{ kill -KILL "${started[@]}" && wait; } 2>>"$fate"

# ---- where there is no container, nothing is looked for
within plain.service
if command -v strace >"$fate"; then
	strace -f -e trace=openat,openat2 -o "$tmp/opened" "$profile" -F 99 -f --show-cgroup --cgroup "$top/plain.service" \
		$slow >"$tmp/out" 2>"$err"
	grep -q "plain.service;nested" "$tmp/out" && grep -q 'openat' "$tmp/opened" &&
		! grep -E '"/(run|var/lib|var/log)/(containerd|k3s|docker|containers|pods)' "$tmp/opened" >"$tmp/log"
	check $? "no file of a runtime is looked for where no container is" "$(head -n 2 "$tmp/log" "$err")"
else
	skip "no file of a runtime is looked for where no container is" "strace is not installed"
fi
{ kill -KILL "${started[@]}" && wait; } 2>>"$fate"

# ---- a container that a user's Podman runs, in a user namespace; systemd would put it into that cgroup
cat >"$tmp/rootless.sh" <<'S'
tmp=$1 profile=$2 top=$3 seconds=$4
user=$tmp/home
podman() {
	setpriv --reuid 12345 --regid 12345 --clear-groups env -i "PATH=$PATH" "HOME=$user" "XDG_RUNTIME_DIR=$user/run" \
		"CONTAINERS_CONF=$tmp/containers.conf" podman "$@" 2>>"$tmp/podman.err"
}
for each in passwd subuid subgid; do mount --bind "$tmp/$each" /etc/$each || exit 1; done
mkdir -p "$user/run" && rm -rf "$user/.local" && chown -R 12345:12345 "$user" && chmod 700 "$user/run" && cd "$user" || exit 1
tar -C "$tmp/root" -c . | podman import - localhost/mine && podman run -d --name mine --network=none localhost/mine /bin/nested || exit 1
id=$(podman inspect -f '{{.Id}}' mine) pid=$(podman inspect -f '{{.State.Pid}}' mine)
cgroup=$top/user.slice/user-12345.slice/user@12345.service/user.slice/libpod-$id.scope
mkdir "$cgroup" && chown 12345 "$cgroup" && echo "$pid" >"$cgroup/cgroup.procs" && cp "/proc/$pid/uid_map" "$tmp/uid_map" &&
	"$profile" -F 499 -U -f --show-cgroup --container mine "$seconds" >"$tmp/rootless.folded"
podman rm -f -t 0 mine
podman rmi -a -f
S
root_of "$tmp/root" "$programs/nested"
echo "somebody:300000:65536" | tee "$tmp/subuid" >"$tmp/subgid"
chmod 711 "${TMPDIR-$tmp}"
chmod 644 "$tmp"/sub?id "$tmp/passwd" "$tmp/containers.conf"
if command -v newuidmap podman runc >"$fate" && [ -e /etc/subuid ] && [ -e /etc/subgid ]; then
	mkdir -p "$top/$users"
	unshare -m --propagation private bash "$tmp/rootless.sh" "$tmp" "$(realpath "$profile")" "$top" $slow >"$tmp/log" 2>"$err"
	out=$tmp/rootless.folded
	[ "$(awk 'NR == 2 { print $2 }' "$tmp/uid_map")" = 300000 ]
	check $? "(a user's Podman runs it in a user namespace)" "$(tail -n 2 "$tmp/log" "$err" "$tmp/podman.err")"
	has "a container of a user's Podman has its name, and its stacks theirs" \
		"^$below/.*/libpod-[0-9a-f]*.scope \\(mine\\);nested;.*;main;outer;middle;inner;burn(;|$)"
	[ "$(total)" -gt 0 ] && [ "$(counted ' \(mine\);nested;')" -eq "$(total)" ]
	check $? "--container chooses it" "$(counted ' \(mine\);nested;') of $(total)"
else
	skip "a user's Podman" "podman, runc or newuidmap is not installed"
fi

# ---- a container of Podman that is gone before the report
if ! why=$(has_podman); then
	skip "names of Podman's containers" "$why"
	finish
fi
out=$tmp/out
root_of "$tmp/root" "$programs/nested"
name=stacktally-names-$$
image "$name" "$tmp/root"
sample -F 499 -U --show-cgroup --name nested
contain "$name" "" "$name" /bin/nested || finish
works "$pid" 60
remove "$name"
sampled
has "a container of Podman that is gone keeps its name" "^/.*libpod-$id \\($name\\);nested;.*;burn(;|$)"

# ---- a pod of Podman
if command -v catatonit >"$fate" && pod "$name-pod"; then
	"${engine[@]}" run -d --pod "$name-pod" --name "$name-in" "localhost/$name" /bin/nested >"$tmp/podman.log" 2>&1
	check $? "Podman runs a container in a pod" "$(tail -n 1 "$tmp/podman.log")"
	containers+=("$name-in")
	id=$(tail -n 1 "$tmp/podman.log")
	measure -F 499 -U -f --show-cgroup --name nested --pod "$name-pod" $slow
	has "Podman's pods have names, and so have their containers" \
		"^/.*libpod-$id \\($name-pod/$name-in\\);nested;.*;burn(;|$)"
	[ "$(counted "libpod-$id")" -eq "$(total)" ]
	check $? "--pod NAME chooses it" "$(counted "libpod-$id") of $(total)"
	measure -F 499 --show-cgroup --pod "$name-pod" -o "$tmp/pod.json" $slow
	python3 - "$tmp/pod.json" "$id" "$name" <<'P' >"$tmp/log" 2>&1
import json, sys
stacks = [s for s in json.load(open(sys.argv[1]))["stacks"] if s["comm"] == "nested"]
assert stacks, "no stacks"
for stack in stacks:
    assert stack["k8s.pod.name"] == sys.argv[3] + "-pod", stack
    assert sys.argv[2] in stack["cgroup"], stack
P
	check $? "and the labels have the container's id, not the pod's" "$(tail -n 1 "$tmp/log" | cut -c 1-300)"
else
	skip "Podman's pods" "$(command -v catatonit >"$fate" || echo "catatonit is not installed") $(tail -n 1 "$tmp/podman.log")"
fi
finish
