/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs that walk the stacks of interpreters too (bpf/triggers.bpf.h). A thread of their
 * own loads them when the first interpreter of a language was found, and they then capture all
 * events. They walk the languages that were found so far, because the verifier takes some ms for
 * each; when another one is found, programs that walk all of these replace them.
 */
#ifndef STACKTALLY_LOADER_INTERPRETED_H
#define STACKTALLY_LOADER_INTERPRETED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "loader/kernel_side.h"
#include "trigger/trigger.h"

struct interpreted_load;

/* Zeros at first. */
struct walkers {
	struct interpreted_load *load; /* while they are being loaded */
	uint32_t languages;	       /* that they walk, or will: bits */
	struct error why_not;	       /* why they did not load; "" */
};

/*
 * Begins to load them for more `languages` than before, see interpreters_languages(): for the
 * trigger, configured as the loaded kernel side is, with its maps. interpreted_await() comes before
 * the kernel side is closed.
 */
void interpreted_walk(struct walkers *walkers, const struct kernel_side *side,
		      struct trigger *trigger, uint32_t languages);

/* Whether they are being loaded: until that is over, interpreted_walk() does nothing. */
bool interpreted_are_loading(const struct walkers *walkers);

/* Waits until they are loaded, if that was begun. */
void interpreted_await(struct walkers *walkers);

#endif
