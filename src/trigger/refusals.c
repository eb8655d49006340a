// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/refusals.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "base/own.h"
#include "trigger/attach.h"
#include "trigger/raw_tracepoint.h"

struct refusals {
	int counter;
	uint32_t n;
	int links[];
};

/* if (*bpf_this_cpu_ptr(variable)) counter[0]++; */
static int load(uint32_t variable, int counter)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_BTF_ID,
		  .imm = (int32_t)variable },
		{ 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_this_cpu_ptr },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 4 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = counter },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "on_refusal", "GPL", program,
			     sizeof(program) / sizeof(program[0]), NULL);
}

struct refusals *refusals_new(uint32_t variable, const struct event *events, uint32_t n)
{
	struct refusals *refusals = malloc(sizeof(*refusals) + n * sizeof(*refusals->links));
	own(own_fd) int program = -1;

	if (!refusals)
		return NULL;
	refusals->n = 0;
	refusals->counter = bpf_map_create(BPF_MAP_TYPE_ARRAY, "refusals", sizeof(uint32_t),
					   sizeof(uint64_t), 1, NULL);
	if (refusals->counter >= 0)
		program = load(variable, refusals->counter);
	for (uint32_t i = 0; program >= 0 && i < n; i++) {
		int link = attach_raw_tracepoint(program, strchr(events[i].name, ':') + 1);

		if (link >= 0)
			refusals->links[refusals->n++] = link;
	}
	if (refusals->n)
		return refusals;
	refusals_free(refusals);
	return NULL;
}

uint64_t refusals_count(const struct refusals *refusals)
{
	uint32_t zero = 0;
	uint64_t count;

	if (!refusals || bpf_map_lookup_elem(refusals->counter, &zero, &count) < 0)
		return 0;
	return count;
}

void refusals_free(struct refusals *refusals)
{
	if (!refusals)
		return;
	for (uint32_t i = 0; i < refusals->n; i++)
		close(refusals->links[i]);
	if (refusals->counter >= 0)
		close(refusals->counter);
	free(refusals);
}
