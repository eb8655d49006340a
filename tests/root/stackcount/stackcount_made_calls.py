#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints a C program of some functions that call each other at random, and that tells at its end how often
each was called: stackcount_made_calls.py SEED. Functions begin with loops, jump tables, calls in tail position, early
returns into cold code, signals, longjmp() and threads; each call is a call, as none may be inlined."""

import random
import sys

SHAPES = {
    "plain": "int s = n; {calls} return s;",
    "loop": "int s = n; do {{ s = s * 3 + 1; }} while (s & 7 && --n > 0); {calls} return s;",
    "cold": "if (__builtin_expect(n > 1000, 0)) {{ puts(\"cold\"); abort(); }} int s = n; {calls} return s;",
    "early": "if (n <= 0) return 1; int s = n; {calls} return s;",
    "switch": "int s = n; switch (n & 7) {{ case 0: s += 5; break; case 1: s ^= 3; break; case 2: s *= 7; break;"
              " case 3: s -= 9; break; case 4: s <<= 1; break; default: s = 1; }} {calls} return s;",
    "big": "volatile char b[9000]; b[n & 4095] = 1; int s = b[n & 4095]; {calls} return s;",
    "variadic": "va_list l; va_start(l, n); int s = n; va_end(l); {calls} return s;",
    "leaving": "int s = n; {calls} if (depth == 0) longjmp(out, 1); return s;",
}


def program(seed):
    rng = random.Random(seed)
    n = rng.randint(4, 20)
    shapes = [rng.choice(list(SHAPES)) for _ in range(n)]
    lines = ["#define _GNU_SOURCE", "#include <pthread.h>", "#include <setjmp.h>", "#include <signal.h>",
             "#include <stdarg.h>", "#include <stdio.h>", "#include <stdlib.h>", "static long called[64];",
             "static __thread jmp_buf out;", "static __thread int depth;",
             # An instruction with a lock, which probes break, might be the first one.
             "static __thread long mine[64];", "#define CALLED(i) (mine[i]++)",
             "static void add(void) { for (int i = 0; i < 64; i++)"
             " __atomic_fetch_add(&called[i], mine[i], __ATOMIC_RELAXED); }"]
    kinds = [rng.choice(["static ", ""]) for _ in range(n)]
    for i in range(n):
        more = ", ..." if shapes[i] == "variadic" else ""
        lines.append(f"{kinds[i]}__attribute__((noipa)) int f{i}(int n{more});")
    lines.append(f"static int (*volatile table[])() = {{ {', '.join(f'(int (*)())f{i}' for i in range(n))} }};")
    for i in range(n):
        # Only to later ones, so that each program ends soon.
        targets = [rng.randrange(i + 1, n) for _ in range(rng.randint(0, 3))] if i + 1 < n else []
        calls = " ".join(f"s += f{t}(n - 1);" if rng.random() < 0.6 else f"s += ((int (*)(int, ...))table[{t}])(n - 1);"
                         for t in targets)
        more = ", ..." if shapes[i] == "variadic" else ""
        body = SHAPES[shapes[i]].format(calls=calls)
        if shapes[i] == "plain" and targets:
            body = f"int s = n; {calls} return f{targets[-1]}(s & 15);"  # a call in tail position
        lines.append(f"{kinds[i]}int f{i}(int n{more}) {{ CALLED({i}); {body} }}")
    lines.append("static __attribute__((noipa)) void handler(int n) { CALLED(62); (void)n; f0(3); }")
    lines.append("static __attribute__((noipa)) void *work(void *x) { CALLED(63);"
                 f" for (int i = 0; i < {rng.randint(1, 60)}; i++) {{ depth = i % 3; if (!setjmp(out)) f0(i); }} add(); return x; }}")
    lines.append("int main(void) { pthread_t t[4];  signal(SIGUSR1, handler); depth = 1; if (!setjmp(out)) raise(SIGUSR1); work(0);"
                 f" int n = {rng.randint(0, 4)};"
                 " for (int i = 0; i < n; i++) pthread_create(&t[i], 0, work, 0);"
                 " for (int i = 0; i < n; i++) pthread_join(t[i], 0);"
                 f" for (int i = 0; i < {n}; i++) if (called[i]) printf(\"f%d %ld\\n\", i, called[i]);"
                 " printf(\"handler %ld\\nwork %ld\\n\", called[62], called[63]); return 0; }")
    return "\n".join(lines)


print(program(int(sys.argv[1])))
