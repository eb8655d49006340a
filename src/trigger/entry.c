// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/entry.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "trigger/probes.h"

static int missing(const char *name, struct error *err)
{
	return error_set(err, -ENOENT, "this build's BPF object has no program %s", name);
}

int entry_select(struct bpf_object *object, const char *name, struct bpf_program **ret_program,
		 struct error *err)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	if (!program)
		return missing(name, err);
	bpf_program__set_autoload(program, true);
	*ret_program = program;
	return 0;
}

int entry_fd(const struct bpf_object *object, const char *name, struct error *err)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	return program ? bpf_program__fd(program) : missing(name, err);
}

void entry_stop(struct trigger *trigger)
{
	probes_detach((struct probes *)trigger);
}

void entry_stop_begin(struct trigger *trigger)
{
	probes_detach_begin((struct probes *)trigger);
}
