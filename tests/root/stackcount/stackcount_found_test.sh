#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The file in which a process has a function, and code that no probe reaches:
# stackcount_found_test.sh BUILD
# timeout: 180
#
# It stands for reports that a probe is set where nothing of the process ever comes: in the host's
# libc for a static program, in libc's malloc beside another allocator, in the new file after an
# upgrade, in a function that was inlined, behind a semaphore that is not set.
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"
have_uprobes || { skip "functions of processes" "$no_uprobes" && finish; }
command -v gcc >/dev/null || { skip "functions of processes" "there is no gcc" && finish; }

cd "$tmp" || exit 1
cat >caller.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;) {
		for (int i = 0; i < 10; i++) {
			char *volatile p = malloc(100);
			free(p);
		}
		usleep(1000);
	}
}
END
cat >liballocator.c <<'END'
#include <stddef.h>
static char memory[1 << 20];
static size_t used;
void *malloc(size_t n)
{
	used = used + n + 4096 > sizeof(memory) ? 0 : (used + n + 15) & ~15ul;
	return memory + used;
}
void free(void *p) { (void)p; }
END
gcc -O1 caller.c -o caller && gcc -O1 -static caller.c -o static && gcc -O1 -shared -fPIC liballocator.c -o liballocator.so ||
	finish
# found NAME PATTERN MESSAGE: of process $pid events are counted, and stderr has the message
found() {
	count -f -p "$pid" -D 0.5 "$2"
	[ "$status" -eq 0 ] && [ "$(total "$out")" -gt 0 ] && grep -qE "$3" "$err"
	check $? "$1" "$(total "$out") events, status $status: $(tail -n 3 "$err")"
}

begin ./static
found "a function of a static program" c:malloc "process $pid maps no library c: counted is malloc of /"
fails 1 "a pattern for a library of a static program" \
	"maps no library c: it is a static program; name that: stackcount -p $pid /proc/$pid/exe:mall\*$" -p "$pid" -D 1 'c:mall*'
found "a static program by its name" "/proc/$pid/exe:mallo?" ' events, '
end

begin ./static
count -f -L "$pid" -D 0.5 c:malloc
[ "$(total "$out")" -gt 0 ] && grep -q "process $pid maps no library c: counted is malloc of /" "$err"
check $? "a function of a static program, for a thread" "$(tail -n 3 "$err")"
end
# Beside busy programs, 0.2 s of work took 20 s with nice 10: stackcount has a priority of its own.
began=$(nice -n 10 "$stackcount" -q -o "$tmp/priority.folded" ./caller:main -- sh -c 'nice; cut -d " " -f 19 /proc/$PPID/stat' 2>&1)
is "the priority of a launched command, and of stackcount" "$(tail -n 2 <<<"$began" | paste -sd ' ')" "10 -10"

begin ./caller
found "a function in a library of another name" nosuchlib:malloc \
	"process $pid maps no library nosuchlib: counted is malloc of .*/libc"
fails 1 "a pattern for a library that is not there" 'unable to find library nosuchlib$' -p "$pid" -D 1 'nosuchlib:mallo?'
count -p "$pid" -D 0.1 "$programs/libsc_target.so:sc_library_call"
grep -q "process $pid does not map .*/libsc_target.so: until it does, nothing is counted" "$err"
check $? "a library that is not mapped yet" "$(cat "$err")"
end

# A process that maps a thousand files is looked at for a second.
cat >mapping.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int n, char **v)
{
	for (int i = 1; i < n; i++)
		mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(v[i], O_RDONLY), 0);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}
END
mkdir many && printf '.type f%s, @function\nf%s: nop\n' {1..40000} >many.s # 20,000 functions
gcc -O1 mapping.c -o mapping && gcc -shared -nostdlib many.s -o many.so &&
	objcopy --only-keep-debug many.so many/debug && strip many.so && objcopy --add-gnu-debuglink=many/debug many.so &&
	printf 'many/%s\n' {1..900} | xargs -n 1 cp many.so
ulimit -n 2000
begin ./mapping many/[1-9]*
began=$EPOCHREALTIME
fails 1 "a function that none of many files has" \
	"library nosuchlib; not looked for it in [0-9]* of the [0-9]* files that process $pid maps, as that takes too long: name the file: stackcount -p $pid FILE:nothing\$" \
	-p "$pid" -D 1 nosuchlib:nothing
took=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
[ "$took" -lt 10000 ]
check $? "... which is said in time" "$took ms"
end

begin env LD_PRELOAD="$tmp/liballocator.so" ./caller
count -p "$pid" -D 0.1 c:malloc
grep -q "has malloc in $tmp/liballocator.so, too, .*: stackcount -p $pid $tmp/liballocator.so:malloc\$" "$err"
check $? "a function that another library has, too" "$(cat "$err")"
grep -q "^c:malloc did not occur in process $pid, which has that function in another file as well: stackcount -p $pid $tmp/liballocator.so:malloc\$" "$err"
check $? "... and that is said again where nothing was counted" "$(cat "$err")"
found "... and the other library's" "$tmp/liballocator.so:malloc" ' events, '
cp liballocator.so new.so && mv new.so liballocator.so
found "a library whose file was replaced" "$tmp/liballocator.so:malloc" ' events, '
rm liballocator.so
found "a library whose file was removed" "$tmp/liballocator.so:malloc" ' events, '
end

# ---- code that was inlined
cat >inlined.c <<'END'
int used;
static inline __attribute__((always_inline)) int nowhere(int i) { return i * 3 + used; }
int somewhere(int i) { used += i; return nowhere(i); }
__attribute__((noipa)) int twice(int i) { return somewhere(i + 1) + somewhere(i - 1); }
int (*volatile pointer)(int) = somewhere;
int main(void) { int s = 0; for (int i = 0; i < 50; i++) s += twice(i) + pointer(i); return s == 1; }
END
gcc -O2 -g inlined.c -o inlined && objcopy --only-keep-debug inlined inlined.debug && cp inlined without &&
	strip without && objcopy --add-gnu-debuglink=inlined.debug without
for program in inlined without; do
	count -f "./$program:somewhere" -- "./$program"
	is "calls of a function that is also inlined, of $program" "$(total "$out")" 50
	grep -q '^not counted: calls at 2 places where the compiler inlined what matches' "$err"
	check $? "... and how often it was inlined" "$(cat "$err")"
	fails 1 "a function that is inlined only, of $program" 'the compiler inlined it at [1-9][0-9]* places' \
		-D 1 "./$program:nowhere"
done

# Without debug information: nothing in the file leads to what was inlined at all of its calls.
cat >everywhere.c <<'END'
#include <unistd.h>
int square(int i) { return i * i + getppid(); }
int cube(int i) { return i * i * i + getppid(); }
int (*volatile pointer)(int) = cube;
__attribute__((noipa)) int jumps(int i) { return i + getppid(); }
__attribute__((noipa)) int goes_on(int i) { return jumps(i + 1); }
int main(void) { int s = 0; for (int i = 0; i < 50; i++) s += square(i) + cube(i) + goes_on(i); return s == 1; }
END
for how in -pie '-no-pie -fno-pie' '-shared -fPIC'; do
	gcc -O2 $how everywhere.c -o everywhere
	if [[ $how = -shared* ]]; then
		"$stackcount" -D 0.1 "$PWD/everywhere:square" >"$out" 2>"$err"
		! grep -q '^not called in its file' "$err"
		check $? "a function that others can call ($how)" "$(cat "$err")"
		continue
	fi
	count -f "./everywhere:square" -- ./everywhere
	says "a function that was inlined wherever it is called ($how)" \
		'^not called in its file: square; the compiler inlined it wherever it is called'
	for function in cube jumps goes_on main _start; do
		count -f "./everywhere:$function" -- ./everywhere
		! grep -q '^not called in its file' "$err"
		check $? "... and not of $function, to which a call, a jump or a pointer leads" "$(cat "$err")"
	done
done

# ---- semaphores that are not in the file
if echo '#include <sys/sdt.h>' | gcc -E - >"$fate" 2>&1; then
	cat >semaphore.c <<-'END'
		#define _SDT_HAS_SEMAPHORES 1
		#include <sys/sdt.h>
		#include <stdio.h>
		#include <unistd.h>
		unsigned short p_hit_semaphore;
		int main(int n, char **v)
		{
			for (int i = 0; n == 1 && i < 100; i++) STAP_PROBE(p, hit);
			if (n == 1) return 0;
			printf("ready %d\n", getpid());
			fflush(stdout);
			for (;; usleep(1000)) if (*(volatile unsigned short *)&p_hit_semaphore) STAP_PROBE(p, hit);
			return v[0][0];
		}
	END
	gcc -O1 semaphore.c -o semaphore
	count -f u:./semaphore:hit -- ./semaphore
	is "a semaphore in .bss that is not asked" "$(total "$out")" 100
	grep -q 'the semaphore of . of . sites is not in the file' "$err"
	check $? "... with a message" "$(cat "$err")"
	begin ./semaphore asks
	found "a semaphore in .bss of a process that runs" u:./semaphore:hit 'is not in the file'
	end
else
	skip "semaphores" "there is no sys/sdt.h (systemtap-sdt-dev)"
fi
finish
