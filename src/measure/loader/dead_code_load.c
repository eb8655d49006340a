// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/dead_code_load.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "loader/dead_code.h"

#define MAX_MAPS  16u
#define MAX_BYTES (1u << 20) /* of constants in a map */

/* The maps whose values programs refer to by address. */
struct maps {
	struct {
		int32_t fd;
		uint32_t size; /* 0: its value may change */
		uint8_t *bytes;
	} of[MAX_MAPS];
	uint32_t n;
};

static void maps_clear(struct maps *maps)
{
	for (uint32_t i = 0; i < maps->n; i++)
		free(maps->of[i].bytes);
}

/* libbpf has filled and frozen maps that programs only read, before it loads programs. */
static void read_map(int32_t fd, uint8_t **ret_bytes, uint32_t *ret_size)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info), zero = 0;
	own(own_free) uint8_t *bytes = NULL;

	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0 || info.type != BPF_MAP_TYPE_ARRAY ||
	    info.max_entries != 1 || !(info.map_flags & BPF_F_RDONLY_PROG) ||
	    info.value_size > MAX_BYTES)
		return;
	bytes = malloc(((size_t)info.value_size + 7) / 8 * 8);
	if (!bytes || bpf_map_lookup_elem(fd, &zero, bytes) < 0)
		return;
	*ret_bytes = take_ptr(bytes);
	*ret_size = info.value_size;
}

static bool read_constant(void *context, int32_t map, uint32_t offset, uint32_t size,
			  uint64_t *ret_number)
{
	struct maps *maps = context;
	uint64_t number = 0;
	uint32_t i = 0;

	while (i < maps->n && maps->of[i].fd != map)
		i++;
	if (i == MAX_MAPS)
		return false;
	if (i == maps->n) {
		maps->of[i].fd = map;
		maps->of[i].size = 0;
		maps->of[i].bytes = NULL;
		read_map(map, &maps->of[i].bytes, &maps->of[i].size);
		maps->n++;
	}
	if (maps->of[i].size < size || offset > maps->of[i].size - size)
		return false;
	/* Little-endian machines alone are supported: a number of fewer bytes is at its start. */
	memcpy(&number, maps->of[i].bytes + offset, size);
	*ret_number = number;
	return true;
}

/* What libbpf calls before it loads a program. What is not understood is loaded as it is. */
static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *options,
		   long cookie __attribute__((unused)))
{
	own(maps_clear) struct maps maps = { .n = 0 };
	const struct dead_code_constants constants = { .read = read_constant, .context = &maps };
	struct dead_code_program code = {
		.n = (uint32_t)bpf_program__insn_cnt(program),
		/* libbpf's own copy, which ends with the load. */
		.functions = (void *)(uintptr_t)options->func_info,
		.function_size = options->func_info_rec_size,
		.n_functions = options->func_info_cnt,
	};
	size_t size = code.n * sizeof(*code.instructions);
	own(own_free) struct bpf_insn *copy = malloc(size);

	if (!copy || (code.n_functions && code.function_size < sizeof(struct bpf_func_info)))
		return 0;
	code.instructions = memcpy(copy, bpf_program__insns(program), size);
	if (dead_code_remove(&code, &constants) < 0)
		return 0;
	options->func_info_cnt = code.n_functions;
	/* Lines would have to move, too; they only serve what the verifier says of a program. */
	options->line_info = NULL;
	options->line_info_cnt = 0;
	return bpf_program__set_insns(program, copy, code.n);
}

/* As libbpf attaches a raw tracepoint by the name of a program's section. */
static int attach_raw(const struct bpf_program *program, long cookie __attribute__((unused)),
		      struct bpf_link **ret_link)
{
	const char *name = strchr(bpf_program__section_name(program), '/');

	*ret_link = name ? bpf_program__attach_raw_tracepoint(program, name + 1) : NULL;
	return *ret_link || !name ? 0 : -errno;
}

/*
 * Sections for which libbpf has no preparation of its own, which a handler would replace. Not those
 * of probes: since Linux 6.13 a program of that type without tail calls has a stack for each CPU,
 * but one at a user function may be preempted, and then run on that stack again. The tail calls
 * that constants leave out keep the kernel from that.
 */
static const struct {
	const char *section;
	enum bpf_prog_type type;
} kinds[] = {
	{ "perf_event", BPF_PROG_TYPE_PERF_EVENT },
	{ "tracepoint", BPF_PROG_TYPE_TRACEPOINT },
	{ "raw_tp+", BPF_PROG_TYPE_RAW_TRACEPOINT },
};

static void set(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_prepare_load_fn = prepare);

		if (kinds[i].type == BPF_PROG_TYPE_RAW_TRACEPOINT)
			options.prog_attach_fn = attach_raw;
		libbpf_register_prog_handler(kinds[i].section, kinds[i].type, 0, &options);
	}
}

void dead_code_load_set(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set);
}
