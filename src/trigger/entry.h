/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry programs of the BPF object, by name: chosen before it is loaded, found after. For
 * the kinds that probes.h serves, with what their ops have in common.
 */
#ifndef STACKTALLY_TRIGGER_ENTRY_H
#define STACKTALLY_TRIGGER_ENTRY_H

#include "base/error.h"

struct bpf_object;
struct bpf_program;
struct trigger;

/* Has it loaded with the object; the others stay out. */
int entry_select(struct bpf_object *object, const char *name, struct bpf_program **ret_program,
		 struct error *err);

/* The loaded program's descriptor, which stays the object's. */
int entry_fd(const struct bpf_object *object, const char *name, struct error *err);

/* The ops' stop and stop_begin for triggers with a struct probes for a head. */
void entry_stop(struct trigger *trigger);
void entry_stop_begin(struct trigger *trigger);

#endif
