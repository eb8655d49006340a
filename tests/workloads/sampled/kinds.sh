# SPDX-License-Identifier: GPL-2.0-or-later
# bash kinds.sh: strings, arithmetic, functions, subshells and pipes, for ever.
fibonacci() {
	if (($1 < 2)); then result=$1; return; fi
	local a
	fibonacci $(($1 - 1)); a=$result
	fibonacci $(($1 - 2)); result=$((a + result))
}
while :; do
	fibonacci 11
	text=
	for ((i = 0; i < 300; i++)); do text+="word$((i * 7919 % 997)) "; done
	declare -A count=()
	for word in $text; do count[${word#word}]=$((${count[${word#word}]-0} + 1)); done
	[[ $text =~ (word[0-9]+\ )+ ]] && copy=${text//word/WORD}
	lines=$(printf '%s\n' "${!count[@]}" | sort -n | while read -r n; do echo "$((n + 1))"; done)
	(: "$copy" "$lines")
	read -r first _ < <(echo "$lines" | head -n 1)
	case $first in '' | *x*) exit 1 ;; esac
done
