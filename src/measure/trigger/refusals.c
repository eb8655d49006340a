// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/refusals.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "bpf/wire.h"
#include "kernel/kallsyms_lines.h"
#include "trigger/attach.h"
#include "trigger/raw_tracepoint.h"

struct refusals {
	int map; /* borrowed */
	bool hidden;
	uint32_t n;
	int links[];
};

/* What the program reads. */
struct addresses {
	struct wire_refusals wire;
	bool has_variable; /* which may be at 0 */
};

static int take_symbol(void *context, const struct kallsyms_line *line)
{
	struct addresses *addresses = context;

	if (line->module)
		return 0;
	if (strcmp(line->name, "__per_cpu_offset") == 0)
		addresses->wire.offsets = line->address;
	if (strcmp(line->name, "bpf_prog_active") == 0) {
		addresses->wire.variable = line->address;
		addresses->has_variable = true;
	}
	return addresses->wire.offsets && addresses->has_variable;
}

static bool find(struct addresses *addresses)
{
	own(own_fd) int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && kallsyms_lines_read(fd, take_symbol, addresses) > 0;
}

struct refusals *refusals_new(const struct bpf_object *object, const struct event *events,
			      uint32_t n)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(object, REFUSALS_PROGRAM);
	int map = bpf_object__find_map_fd_by_name(object, "refusals");
	struct refusals *refusals = malloc(sizeof(*refusals) + n * sizeof(*refusals->links));
	struct addresses addresses = { 0 };
	uint32_t zero = 0;

	if (!refusals)
		return NULL;
	*refusals = (struct refusals){ .map = map, .hidden = program && !find(&addresses) };
	if (program && !refusals->hidden &&
	    bpf_map_update_elem(map, &zero, &addresses.wire, BPF_ANY) == 0) {
		for (uint32_t i = 0; i < n; i++) {
			int link = attach_raw_tracepoint(bpf_program__fd(program),
							 strchr(events[i].name, ':') + 1);

			if (link >= 0)
				refusals->links[refusals->n++] = link;
		}
	}
	return refusals;
}

bool refusals_hidden(const struct refusals *refusals)
{
	return refusals && refusals->hidden;
}

uint64_t refusals_count(const struct refusals *refusals)
{
	struct wire_refusals now;
	uint32_t zero = 0;

	if (!refusals || bpf_map_lookup_elem(refusals->map, &zero, &now) < 0)
		return 0;
	return now.count;
}

void refusals_free(struct refusals *refusals)
{
	if (!refusals)
		return;
	for (uint32_t i = 0; i < refusals->n; i++)
		close(refusals->links[i]);
	free(refusals);
}
