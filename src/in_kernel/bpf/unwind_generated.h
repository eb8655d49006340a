/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The step from a frame of generated code, which has no tables: by its next instructions, by the
 * frame pointer, or by the frame that it runs on. Part of bpf/unwind_step.h, whose includers define
 * the macros.
 */
#ifndef STACKTALLY_BPF_UNWIND_GENERATED_H
#define STACKTALLY_BPF_UNWIND_GENERATED_H

#include <stdbool.h>

#include "bpf/unwind_luajit.h"
#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

#ifndef UNWIND_LUAJIT_FRAME
#define UNWIND_LUAJIT_FRAME(sp) unwind_luajit_frame(sp UNWIND_PASS)
#endif

/* Uses what is above. */
#include "arch/generated.h"

#endif
