/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In place of libbpf's headers, for the BPF programs' walks compiled for user space: the helpers
 * that they call, which the file that includes this defines. Include first. The file's global names
 * are those of the BPF programs, and are not to leave its object (the Makefile's KEPT_NAMES).
 */
#ifndef STACKTALLY_USER_WALK_BPF_HELPERS_H
#define STACKTALLY_USER_WALK_BPF_HELPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#if defined(__x86_64__)
#define __TARGET_ARCH_x86
#else
#define __TARGET_ARCH_arm64
#endif
#define __BPF_HELPERS__
#define __BPF_CORE_READ_H__
#define __BPF_TRACING_H__

/* What BPF programs do without saying so. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SEC(name)
#define CONFIG_STORAGE	     static
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

static inline uint64_t bpf_get_current_pid_tgid(void)
{
	return 0;
}

static inline uint32_t bpf_get_smp_processor_id(void)
{
	return 0;
}

#endif
