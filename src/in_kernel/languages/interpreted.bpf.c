// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/* The triggers' programs, which walk the stacks of interpreters too (bpf/triggers.bpf.h). */
#include "languages/interpreter.bpf.h" /* first: bpf/interpreter_hooks.bpf.h */

#include "bpf/triggers.bpf.h"
