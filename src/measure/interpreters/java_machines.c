// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/java_machines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/grow.h"
#include "interpreters/java_frozen.h"
#include "interpreters/java_machine.h"

/*
 * A machine is ready some 50 ms after it has mapped libjvm. A look takes 1 ms, and one that is
 * never ready gets fewer and fewer of them until its mappings change.
 */
#define FIRST_DELAY_NS (5 * NS_PER_MS)
#define LAST_DELAY_NS  (2 * NS_PER_SECOND)
#define MAX_TRIES      24
/* What does not fit may not be there yet: in the first 250 ms it is looked at again. */
#define TRIES_TO_REFUSE 8

struct java_machine {
	pid_t tgid;
	uint32_t interpreter;
	struct wire_java exports;
	uint64_t bias;
	uint64_t next_try, delay; /* ns; 0: it is described, or is not tried any more */
	uint32_t tries;
	bool written; /* in the map */
	const char *why;
};

void java_machines_clear(struct java_machines *machines)
{
	free(machines->list);
	*machines = JAVA_MACHINES_NONE;
}

static struct java_machine *find(const struct java_machines *machines, pid_t tgid)
{
	for (uint32_t i = 0; i < machines->n; i++)
		if (machines->list[i].tgid == tgid)
			return &machines->list[i];
	return NULL;
}

static void try_at(struct java_machines *machines, struct java_machine *machine, uint64_t time)
{
	machine->next_try = time;
	if (time && (!machines->next_try || time < machines->next_try))
		machines->next_try = time;
}

int java_machines_saw(struct java_machines *machines, pid_t tgid, uint32_t interpreter,
		      const struct wire_java *exports, uint64_t bias)
{
	struct java_machine *machine = find(machines, tgid);
	int r;

	if (machine && machine->bias == bias && machine->interpreter == interpreter) {
		if (machine->tries == MAX_TRIES && !machine->written)
			try_at(machines, machine, monotonic_ns() + LAST_DELAY_NS);
		return 0;
	}
	java_machines_forget(machines, tgid);
	r = grow(&machines->list, &machines->capacity, machines->n + 1);
	if (r < 0)
		return r;
	machine = &machines->list[machines->n++];
	*machine = (struct java_machine){
		.tgid = tgid,
		.interpreter = interpreter,
		.exports = *exports,
		.bias = bias,
		.delay = FIRST_DELAY_NS,
	};
	try_at(machines, machine, 1);
	return 0;
}

void java_machines_forget(struct java_machines *machines, pid_t tgid)
{
	struct java_machine *machine = find(machines, tgid);
	uint32_t key = (uint32_t)tgid;

	if (!machine)
		return;
	if (machine->written)
		bpf_map_delete_elem(machines->map, &key);
	*machine = machines->list[--machines->n];
}

static int read_process(void *data, void *to, size_t size, uint64_t address)
{
	const struct java_machine *machine = data;
	struct iovec here = { to, size }, there = { (void *)address, size };

	return process_vm_readv(machine->tgid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

/* Reads a machine, and writes what it is. Whether it is to be tried again. */
static bool describe(struct java_machines *machines, struct java_machine *machine)
{
	const struct java_memory memory = { read_process, machine };
	struct wire_java_process process;
	uint32_t key = (uint32_t)machine->tgid;

	machine->tries++;
	if (java_machine_read(&memory, &machine->exports, machine->bias, &process, &machine->why) <
	    0)
		return machine->tries < MAX_TRIES;
	if (process.refused && machine->tries < TRIES_TO_REFUSE)
		return true;
	process.interpreter = machine->interpreter;
	process.number = ++machines->last;
	machine->written = bpf_map_update_elem(machines->map, &key, &process, BPF_ANY) == 0;
	return machine->tries < TRIES_TO_REFUSE &&
	       java_frozen_is_early(&machine->exports, &process);
}

void java_machines_try(struct java_machines *machines, uint64_t now)
{
	if (machines->map < 0 || !machines->next_try || now < machines->next_try)
		return;
	machines->next_try = 0;
	for (uint32_t i = 0; i < machines->n; i++) {
		struct java_machine *machine = &machines->list[i];

		if (!machine->next_try)
			continue;
		if (machine->next_try > now) {
			try_at(machines, machine, machine->next_try);
			continue;
		}
		machine->next_try = 0;
		if (!describe(machines, machine))
			continue;
		try_at(machines, machine, now + machine->delay);
		machine->delay = machine->delay * 3 / 2 < LAST_DELAY_NS ? machine->delay * 3 / 2
									: LAST_DELAY_NS;
	}
}

const char *java_machines_refused(const struct java_machines *machines, pid_t *ret_tgid)
{
	for (uint32_t i = 0; i < machines->n; i++) {
		if (!machines->list[i].why)
			continue;
		*ret_tgid = machines->list[i].tgid;
		return machines->list[i].why;
	}
	return NULL;
}
