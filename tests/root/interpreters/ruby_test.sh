#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Ruby programs, against the programs' own accounts: ruby_test.sh BUILD
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "functions of Ruby programs" "$no_uprobes"
	finish
}

# in_release RELEASE: sets $root to a file system with Ruby, and $libc
in_release() {
	root=$("$here/../../root_of" "$1" ruby 2>"$err") || return
	mkdir -p "$root/tmp"
	libc=$(ls "$root"/lib/*-linux-gnu/libc.so.6)
}

for of in bookworm:3.1 trixie:3.3; do
	if in_release "${of%:*}"; then
		cp "$here/ruby_oracle.rb" "$root/tmp"
		rm -f "$root/tmp/account"*
		count -f "$libc:getppid" -- chroot "$root" /usr/bin/ruby --disable-gems \
			/tmp/ruby_oracle.rb /tmp/account
		equal "${of%:*}'s Ruby ${of#*:}: functions and counts are the program's own" \
			"$root/tmp/account"
	else
		skip "${of%:*}'s Ruby ${of#*:}" "$(tail -n 1 "$err")"
	fi
done
finish
