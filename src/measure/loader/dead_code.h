/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes out of a BPF program, before the kernel sees it, what its constants leave out. The kernel
 * would do it, too, but for each place it moves all instructions behind it: docs/decisions.md has
 * what that cost with six languages. Kernels before 6.8 also verify global functions that nothing
 * calls.
 *
 * Must not know: libbpf's objects (loader/dead_code_load.h).
 */
#ifndef STACKTALLY_LOADER_DEAD_CODE_H
#define STACKTALLY_LOADER_DEAD_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

/* A program, relocated: its instructions, and where its functions are, the entry first. */
struct dead_code_program {
	struct bpf_insn *instructions;
	uint32_t n;
	void *functions;	/* struct bpf_func_info, ... */
	uint32_t function_size; /* ... each of so many bytes, at least sizeof(struct bpf_func_info)
				 */
	uint32_t n_functions;
};

/*
 * What a program can rely on to find in its memory: gives `size` bytes, 1, 2, 4 or 8, at an offset
 * of a map's only value as a number. False: they may change, or there are none.
 */
struct dead_code_constants {
	bool (*read)(void *context, int32_t map, uint32_t offset, uint32_t size,
		     uint64_t *ret_number);
	void *context;
};

/*
 * Removes instructions and functions that are not reached, and branches that always go one way. The
 * arrays are changed in place, and `n` and `n_functions` with them. -EINVAL: the program has an
 * instruction that is not understood, or a jump to nowhere; -ENOMEM. Then it is as it was.
 */
int dead_code_remove(struct dead_code_program *program,
		     const struct dead_code_constants *constants);

#endif
