/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Stacks by the kernel's helper, bpf_get_stack().
 */
#ifndef STACKTALLY_BPF_STACK_HELPER_BPF_H
#define STACKTALLY_BPF_STACK_HELPER_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/scratch.bpf.h"
#include "bpf/wire.h"

/* The bytes that a stack helper wrote: for the verifier in the range [0, 8 * WIRE_MAX_DEPTH]. */
static __always_inline __u64 bytes_of(long written)
{
	__u64 bytes = written;

	if (written < 0)
		return 0;
	if (bytes > WIRE_MAX_DEPTH * sizeof(__u64))
		bytes = WIRE_MAX_DEPTH * sizeof(__u64);
	return bytes;
}

/* Few kernel stacks are deeper, and the helper clears all unused room it is given. */
#define KERNEL_USUAL_DEPTH 48

/* Writes the kernel stack to the slot; returns bytes. */
static __always_inline __u64 helper_kernel_stack(void *ctx, struct scratch *slot)
{
	__u32 size = config.kernel_depth * sizeof(__u64);
	__u32 usual = KERNEL_USUAL_DEPTH * sizeof(__u64);
	__u64 kernel;

	if (size > usual) {
		kernel = bytes_of(bpf_get_stack(ctx, slot->frames, usual, 0));
		/* For the verifier, the same state as after the call below. */
		OPAQUE(kernel);
		if (kernel < usual)
			return bytes_of(kernel);
	}
	return bytes_of(bpf_get_stack(ctx, slot->frames, size, 0));
}

#endif
