// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/* The triggers' programs, which walk the stacks of interpreters too (bpf/triggers.bpf.h). */
#define WALK_INTERPRETERS "languages/interpreter.bpf.h"
#include "bpf/triggers.bpf.h"
