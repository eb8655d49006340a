/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The maps that hold the unwinding tables (bpf/unwind_wire.h), and access to them. User space
 * creates and fills them (unwind/unwind_maps.h).
 */
#ifndef STACKTALLY_BPF_UNWIND_TABLES_BPF_H
#define STACKTALLY_BPF_UNWIND_TABLES_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/unwind_wire.h"
#include "bpf/variables.bpf.h"

/* 256 blocks. All segments have the same size, so that the JIT inlines the look-up of a block. */
struct unwind_segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_SEGMENT_BLOCKS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u8[WIRE_BLOCK_SIZE]);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WIRE_MAX_SEGMENTS);
	__type(key, __u32);
	__array(values, struct unwind_segment);
} unwind_segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_RULES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_rule);
} unwind_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct wire_process);
} unwind_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_FILES);
	__type(key, struct wire_file);
	__type(value, struct wire_file_table);
} unwind_files SEC(".maps");

static __always_inline void unwind_changed(void)
{
	__sync_fetch_and_add(&unwind_changes, 1);
}

static __always_inline const void *look_up_block(__u32 block)
{
	__u32 segment = block / WIRE_SEGMENT_BLOCKS, at = block % WIRE_SEGMENT_BLOCKS;
	void *blocks = bpf_map_lookup_elem(&unwind_segments, &segment);

	return blocks ? bpf_map_lookup_elem(blocks, &at) : NULL;
}

static __always_inline const struct wire_rule *look_up_rule(__u32 number)
{
	return bpf_map_lookup_elem(&unwind_rules, &number);
}

static __always_inline const struct wire_process *look_up_process(__u32 tgid)
{
	return bpf_map_lookup_elem(&unwind_processes, &tgid);
}

#endif
