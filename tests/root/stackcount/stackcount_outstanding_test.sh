#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory that is allocated and not freed, by the stacks that allocate it, against what a program
# knows: stackcount_outstanding_test.sh BUILD
# timeout: 240
# quiet: it changes return addresses in other programs that call the same functions
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"
have_uprobes || { skip "outstanding memory" "$no_uprobes" && finish; }

leaks=$programs/sc_leaks
here=$(cd "$(dirname "$0")" && pwd)
# ---- all of libc's functions
leaks --leaks -o "$json" -- "$leaks"
knows "libc"
is "a program that knows of nine" "$(grep -c ^ml_ "$tmp/said")" 9
is "what is moved and freed" "$(outstanding ml_realloc_freed)" "0 0"
says "blocks freed that were not seen to be allocated" \
	'^[0-9]+ blocks? (was|were) freed that (was|were) not seen to be allocated'
says "the closing line" '^[0-9]+ bytes outstanding in [0-9]+ blocks, '
# The allocator maps twice what it needs and unmaps the rest.
is "a thread's arena is what is left of its mapping" "$(outstanding alloc_new_heap | cut -d' ' -f1)" 1
[ "$(outstanding alloc_new_heap | cut -d' ' -f2)" -le 67108864 ]
check $? "... and not what was unmapped" "$(outstanding alloc_new_heap)"

# ---- programs with another libc, or of another language
leaks --leaks -o "$json" -- "$leaks"_static
knows "a static program"
if musl-gcc -static -O0 -D_GNU_SOURCE -o "$tmp/musl_static" "$here/../../workloads/sc_leaks.c" 2>"$fate" &&
	musl-gcc -O0 -D_GNU_SOURCE -o "$tmp/musl" "$here/../../workloads/sc_leaks.c" 2>"$fate"; then
	leaks --leaks -o "$json" -- "$tmp/musl_static"
	knows "a static program with musl"
	leaks --outstanding c:malloc -o "$json" c:free -- "$tmp/musl"
	is "a program with musl" "$(outstanding ml_many) $(outstanding ml_handed_over)" "100 10000 0 0"
else
	skip "programs with musl" "no musl-gcc"
fi
strip -o "$tmp/stripped" "$leaks"_static
fails 1 "a static program without symbols" "stripped has no function symbols; install its debug symbols" \
	--leaks -- "$tmp/stripped"
leaks --leaks -o "$json" -- "$programs/sc_new"
knows "new of C++"

# ---- what grows
leaks --leaks -i 0.3 -f -- "$leaks" grow
grep 'ml_keeps;malloc' "$tmp/said" | awk '{ if ($NF + 0 < last + 0) wrong = 1; last = $NF; n++ }
	END { exit wrong || n < 3 || last != 100000 }'
check $? "with -i, each report has all that is outstanding" "$(grep ml_keeps "$tmp/said")"

# ---- odd ends of allocations
leaks --outstanding "$leaks:ml_take" -o "$json" "$leaks:ml_give" -- "$leaks" odd
knows "jumps, ends of threads, another program"

# ---- two functions
"$stackcount" --outstanding c:calloc -o "$json" c:free -- "$leaks" >"$tmp/said" 2>"$err"
is "outstanding of calloc alone" "$(outstanding ml_calloc) $(outstanding ml_many)" "1 240 0 0"

# ---- an allocator in the place of libc's
cat >"$tmp/second.c" <<'END'
#include <stddef.h>
static char arena[1 << 24];
static size_t used;
void *malloc(size_t size) { return used + size < sizeof(arena) ? &arena[(used += (size + 15) & -16ul) - ((size + 15) & -16ul)] : NULL; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *block, size_t size) { return block ? NULL : malloc(size); }
void free(void *block) { (void)block; }
END
cat >"$tmp/keeps.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noinline)) void keep(void) { kept = malloc(100); }
int main(void) { for (;;) { keep(); usleep(10000); } }
END
gcc -O1 -fno-builtin -shared -fPIC -o "$tmp/libsecond.so" "$tmp/second.c" && gcc -O1 -fno-builtin -o "$tmp/keeps" "$tmp/keeps.c"
LD_PRELOAD="$tmp/libsecond.so" "$tmp/keeps" &
started+=($!)
until grep -q libsecond "/proc/$!/maps"; do sleep 0.05; done
"$stackcount" --leaks -f -D 0.5 -p $! >"$out" 2>"$err"
advice="stackcount -p $! --outstanding $tmp/libsecond.so:malloc $tmp/libsecond.so:free"
grep -q "^process $! allocates in another file, too, whose blocks are not among these: $advice\$" "$err"
check $? "blocks of another allocator are told" "$(cat "$err")"
grep -q "^c:malloc did not occur in process $!, which has that function in another file as well: $advice\$" "$err"
check $? "... also where there is none of libc's" "$(cat "$err")"
read -ra words <<<"$advice"
"$stackcount" "${words[@]:1}" -f -D 0.5 >"$out" 2>"$err"
grep -q 'keep;malloc' "$out"
check $? "... and the advice finds them" "$(cat "$out" "$err")"

# ---- a libc in another root is another file
cat >"$tmp/once.c" <<'END'
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) void keep(void) { for (int i = 0; i < 50; i++) kept = malloc(100); }
int main(void) { keep(); return 0; }
END
gcc -O1 -fno-builtin -o "$tmp/once" "$tmp/once.c"
jail=$tmp/jail
mkdir -p "$jail"
ldd "$tmp/once" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "$jail${library%/*}"
	cp -L "$library" "$jail$library"
done
cp "$tmp/once" "$jail/once"
libc=$jail$(ldd "$tmp/once" | grep -o '/[^ ]*libc\.so\.6')
of_root='^chroot starts a program in another root, whose libc is another file: its calls do not count, unless they are named: '
"$stackcount" --leaks -f -- chroot "$jail" /once >"$out" 2>"$err"
says "a libc in another root is told" "$of_root--outstanding ROOT/\.\.\./libc\.so\.6:malloc ROOT/\.\.\./libc\.so\.6:free\$"
"$stackcount" --outstanding "$libc:malloc" "$libc:free" -f -- chroot "$jail" /once >"$out" 2>"$err"
grep -q 'keep;malloc 5000' "$out" && ! grep -q 'another root' "$err"
check $? "... and what it names is followed" "$(cat "$out" "$err")"
"$stackcount" -f c:malloc -- chroot "$jail" /once >"$out" 2>"$err"
says "... for a function, too" "${of_root}ROOT/\.\.\./libc\.so\.6:malloc\$"
"$stackcount" --leaks -f -- "$tmp/once" >"$out" 2>"$err"
! grep -q 'another root' "$err"
check $? "... and not of other commands" "$(cat "$err")"

# ---- age: nothing is an hour old
"$stackcount" --leaks --older 1h -f -- "$leaks" >"$out" 2>"$err"
is "only what is older" "$(grep -c 'main;ml_' "$out")" 0

# ---- bad input
fails 2 "one function" 'required: pattern' --outstanding c:malloc
fails 2 "a pattern beside the set" 'takes no pattern' --leaks c:malloc
fails 2 "two functions without the option" 'unrecognized arguments: c:free' c:malloc c:free
fails 2 "an age without blocks" '--older: needs' --older 5 c:malloc
fails 2 "conditions" '--if: not allowed with argument --leaks' --leaks --if 'arg1 > 1'
fails 2 "a display that adds up" '--leaks: not allowed with argument --tui, .*-i 1 shows what is outstanding' --leaks --tui
fails 1 "several functions" 'is not one function' --outstanding 'c:*alloc' c:free
fails 1 "a tracepoint" 'is no function' --outstanding t:kmem:kmalloc c:free
finish
