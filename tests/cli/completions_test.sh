#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What zsh and fish offer where Tab is pressed: completions_test.sh BUILD
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
export HOME=$tmp XDG_CONFIG_HOME=$tmp XDG_DATA_HOME=$tmp XDG_CACHE_HOME=$tmp

for command in profile stackcount; do
	"$1/$command" --print-completion-zsh | diff "$top/docs/completions/zsh/_stacktally_$command" -
	check $? "the completion of $command for zsh is what the table gives" "make docs writes it"
	"$1/$command" --print-completion-fish | diff "$top/docs/completions/fish/$command.fish" -
	check $? "the completion of $command for fish is what the table gives" "make docs writes it"
done

# A terminal, in which a shell notes what its completion adds.
cat >"$tmp/tab.zsh" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D
compadd() {
	local -a hits
	[[ \" \$* \" == *' -'(O|A|D)' '* ]] || builtin compadd -A hits \"\$@\"
	print -rl -- \$hits >>$3
	builtin compadd \"\$@\"
}
note() { zle complete-word; print done >>$3 }
zle -C offered complete-word _main_complete
bindkey '^X' offered
over() { print over >>$3 }
zle -N over
bindkey '^E' over
print begun >>$3"
repeat 200; do [[ -s $3 ]] && break; sleep 0.05; done
zpty -n -w shell "$2"$'\x18\x05'
repeat 400; do grep -qx over $3 && break; sleep 0.05; done
zpty -d shell
END
in_zsh() {
	: >"$tmp/offered"
	timeout 40 zsh -f "$tmp/tab.zsh" "$top/docs/completions/zsh" "$1" "$tmp/offered" >"$tmp/shell" 2>&1
}
in_fish() {
	timeout 40 fish --no-config -c "for f in $top/docs/completions/fish/*.fish; source \$f; end; complete -C '$1'" \
		2>"$tmp/shell" | cut -f 1 >"$tmp/offered"
}
# offers TEXT WORD: behind TEXT, the word is offered; hides TEXT WORD: it is not, and others are
offers() {
	"in_$shell" "$1"
	grep -qxF -e "$2" "$tmp/offered"
	check $? "$shell: '$1' offers $2" "$(head -n 5 "$tmp/offered") $(tail -n 3 "$tmp/shell")"
}
hides() {
	"in_$shell" "$1"
	! grep -qxF -e "$2" "$tmp/offered"
	check $? "$shell: '$1' does not offer $2" "$(head -n 5 "$tmp/offered")"
}
for shell in zsh fish; do
	if ! command -v $shell >"$tmp/shell"; then
		echo "skip $shell: it is not installed"
		continue
	fi
	offers 'profile --off' --off-cpu
	offers 'profile --unwind ' cfi
	offers 'stackcount --format ' folded
	offers "profile -p " $$
	offers 'profile -- basena' basename
	offers 'stacktally ' stackcount
	offers 'stacktally profile --du' --dump
	hides 'stackcount --of' --off-cpu
done
exit $failed
