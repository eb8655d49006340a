/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs that walk the stacks of interpreters too (bpf/triggers.bpf.h). A thread of their
 * own loads them when the first interpreter of a language was found, and they then capture all
 * events. They walk the languages that were found so far, because the verifier takes some ms for
 * each; when another one is found, programs that walk all of these replace them.
 */
#ifndef STACKTALLY_SESSION_INTERPRETED_H
#define STACKTALLY_SESSION_INTERPRETED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "session/kernel_side.h"
#include "trigger/trigger.h"

struct interpreted_load;

/*
 * Begins to load them: for the trigger, configured as the loaded kernel side is, with its maps, and
 * for the `languages`, see interpreters_languages(). To be ended before the kernel side is closed.
 * 0 or a negative errno.
 */
int interpreted_load_begin(const struct kernel_side *side, struct trigger *trigger,
			   uint32_t languages, struct interpreted_load **ret_load,
			   struct error *err);
/* Whether interpreted_load_end() would not wait. */
bool interpreted_load_is_over(const struct interpreted_load *load);
/* Waits for the thread, and frees the load. 0; a negative errno if the programs did not load. */
int interpreted_load_end(struct interpreted_load *load, struct error *err);

#endif
