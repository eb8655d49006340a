# SPDX-License-Identifier: GPL-2.0-or-later
# Real containers for root tests; sourced behind harness.bash. Images are made from the test
# programs and the libraries that they need; nothing is downloaded.
# shellcheck shell=bash disable=SC2154 # harness.bash sets the variables

# runc, as crun refuses machines that have both cgroup hierarchies; the limits, as containers cannot
# raise them without CAP_SYS_RESOURCE.
engine=(env "CONTAINERS_CONF=$tmp/containers.conf" podman)
cat >"$tmp/containers.conf" <<'C'
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
C
containers=() images=() pods=()
# has_podman: whether containers can be run here; else it says why not
has_podman() {
	command -v podman >"$fate" && command -v runc >"$fate" || {
		echo "podman and runc are not installed"
		return 1
	}
	"${engine[@]}" info >"$fate" 2>"$tmp/podman.err" || {
		tail -n 1 "$tmp/podman.err"
		return 1
	}
}
# root_of DIRECTORY PROGRAM...: copies programs with their libraries to /bin of a root directory
root_of() {
	local root=$1 program library
	mkdir -p "$root/bin"
	for program in "${@:2}"; do
		cp "$program" "$root/bin/"
		ldd "$program" 2>>"$fate" | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "$root${library%/*}"
			cp -L "$library" "$root$library"
		done
	done
}
# image NAME DIRECTORY: makes an image of a root directory
image() {
	tar -C "$2" -c . | "${engine[@]}" import - "localhost/$1" >"$tmp/podman.log" 2>&1 ||
		fail "podman makes an image" "$(tail -n 1 "$tmp/podman.log")"
	images+=("localhost/$1")
}
# contain NAME "OPTION..." IMAGE COMMAND...: starts a container and sets $pid to its process here
contain() {
	local name=$1
	# shellcheck disable=SC2086 # words
	"${engine[@]}" run -d --name "$name" --network=none $2 "localhost/$3" "${@:4}" \
		>"$tmp/podman.log" 2>&1 || {
		fail "podman runs $name" "$(tail -n 1 "$tmp/podman.log")"
		return 1
	}
	containers+=("$name")
	id=$(tail -n 1 "$tmp/podman.log")
	pid=$("${engine[@]}" inspect -f '{{.State.Pid}}' "$name")
}
# remove NAME
remove() { "${engine[@]}" rm -f -t 0 "$1" >"$tmp/podman.log" 2>&1; }
# pod NAME: makes a pod, whose network is the host's; fails where there is no program for its infra container
pod() {
	"${engine[@]}" pod create --name "$1" --network=host >"$tmp/podman.log" 2>&1 && pods+=("$1")
}
remove_all() {
	local each
	for each in "${pods[@]}"; do "${engine[@]}" pod rm -f -t 0 "$each" >"$tmp/podman.log" 2>&1; done
	for each in "${containers[@]}"; do remove "$each"; done
	for each in "${images[@]}"; do "${engine[@]}" rmi -f "$each" >"$tmp/podman.log" 2>&1; done
}
