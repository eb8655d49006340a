/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In place of libbpf's headers, for the BPF programs' walks of interpreters compiled for user
 * space: the helpers they call, which read the memory of tests/walks/in_memory/interpreter.h.
 * Include first.
 */
#ifndef STACKTALLY_TESTS_WALKS_BPF_HELPERS_H
#define STACKTALLY_TESTS_WALKS_BPF_HELPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#define __TARGET_ARCH_x86
#define __BPF_HELPERS__
#define __BPF_CORE_READ_H__
#define __BPF_TRACING_H__

#define SEC(name)
#define __uint(name, value)  int name
#define __type(name, value)  __typeof__(value) *name
#define __array(name, value) __typeof__(value) *name[1]
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#undef __noinline
#define __noinline static __attribute__((noinline, unused))

#define bpf_core_enum_value_exists(type, value) true
#define bpf_core_field_exists(field)		true
#define bpf_core_read(to, size, from)		0
#define BPF_CORE_READ(from, ...)		0

static long bpf_probe_read_user(void *to, uint64_t size, const void *from);
static long bpf_probe_read_user_str(void *to, uint64_t size, const void *from);
static long bpf_probe_read_kernel(void *to, uint64_t size, const void *from);
static void *bpf_map_lookup_elem(void *map, const void *key);
static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags);
static long bpf_ringbuf_output(void *ring, const void *data, uint64_t size, uint64_t flags);
static uint64_t bpf_ringbuf_query(void *ring, uint64_t what);
static void *bpf_get_current_task_btf(void);
static uint64_t bpf_get_current_task(void);
struct task_struct;
static long bpf_find_vma(void *task, uint64_t address, void *each, void *context, uint64_t flags);

static inline uint64_t bpf_ktime_get_ns(void)
{
	return 0;
}

static inline uint32_t bpf_get_smp_processor_id(void)
{
	return 0;
}

#endif
