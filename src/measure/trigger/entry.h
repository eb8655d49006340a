/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry programs of the BPF object (bpf/triggers.bpf.h) by name, for select() and attach(); and
 * the ops that all triggers of probes.h share.
 */
#ifndef STACKTALLY_TRIGGER_ENTRY_H
#define STACKTALLY_TRIGGER_ENTRY_H

#include <stdbool.h>

#include "base/error.h"

struct bpf_object;
struct bpf_program;
struct trigger;
struct trigger_scope;

/*
 * Has the program loaded with the object, in its form that asks the kernel if there is one and the
 * scope allows it. -ENOENT when the object has none of this name.
 */
int entry_select(const struct trigger_scope *scope, struct bpf_object *object, const char *name,
		 struct bpf_program **ret_program, struct error *err);

/* Whether the object has a program of this name: that which walks interpreters has not all. */
bool entry_has(const struct bpf_object *object, const char *name);

/* The descriptor of the program in the form that was loaded, owned by the object, or -ENOENT. */
int entry_fd(const struct bpf_object *object, const char *name, struct error *err);

/* stop() and stop_begin() of triggers that begin with a struct probes. */
void entry_stop(struct trigger *trigger);
void entry_stop_begin(struct trigger *trigger);

#endif
