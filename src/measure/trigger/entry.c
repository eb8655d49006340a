// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/entry.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>

#include "trigger/probes.h"

static int missing(const char *name, struct error *err)
{
	return error_set(err, -ENOENT, "this build's BPF object has no program %s", name);
}

/* The form of the program that asks the kernel (bpf/triggers.bpf.h), or NULL. */
static struct bpf_program *asking_form(const struct bpf_object *object, const char *name)
{
	char form[64];

	snprintf(form, sizeof(form), "%s_asking", name);
	return bpf_object__find_program_by_name(object, form);
}

int entry_select(const struct trigger_scope *scope, struct bpf_object *object, const char *name,
		 struct bpf_program **ret_program, struct error *err)
{
	struct bpf_program *program = scope->may_ask ? asking_form(object, name) : NULL;

	if (!program)
		program = bpf_object__find_program_by_name(object, name);
	if (!program)
		return missing(name, err);
	bpf_program__set_autoload(program, true);
	*ret_program = program;
	return 0;
}

bool entry_has(const struct bpf_object *object, const char *name)
{
	return bpf_object__find_program_by_name(object, name) != NULL;
}

int entry_fd(const struct bpf_object *object, const char *name, struct error *err)
{
	const struct bpf_program *program = asking_form(object, name);

	if (!program || bpf_program__fd(program) < 0)
		program = bpf_object__find_program_by_name(object, name);
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
