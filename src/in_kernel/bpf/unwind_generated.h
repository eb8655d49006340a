/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The step from a frame of generated code, which has no tables: by its next instructions, or by the
 * frame pointer. Part of bpf/unwind_step.h, whose includers define the macros.
 */
#ifndef STACKTALLY_BPF_UNWIND_GENERATED_H
#define STACKTALLY_BPF_UNWIND_GENERATED_H

#include <stdbool.h>

#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

/* Uses what is above. */
#include "arch/generated.h"

#endif
