// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/partition.h"

#define NOT_YET UINT32_MAX

struct selecting {
	const struct selection *selection;
	const struct tally *from;
	const struct names *from_names;
	struct tally *to;
	struct names *to_names;
	/* The ids in the result, by those in the source; NOT_YET: not needed so far. */
	uint32_t *addresses, *stacks, *objects;
};

bool selection_is_all(const struct selection *selection)
{
	return selection->tgids.n == 0 && selection->tids.n == 0 && !selection->name &&
	       !cgroup_filter_is_given(&selection->groups) && !selection->no_user &&
	       !selection->no_kernel && !selection->no_inlined && !selection->depth &&
	       !selection->counts;
}

static uint32_t *make_ids(uint32_t n)
{
	uint32_t *ids = reallocarray(NULL, (size_t)n + 1, sizeof(*ids));

	if (ids)
		memset(ids, 0xff, ((size_t)n + 1) * sizeof(*ids));
	return ids;
}

static bool has_id(const struct id_list *list, uint32_t id)
{
	for (uint32_t i = 0; i < list->n; i++)
		if ((uint32_t)list->ids[i] == id)
			return true;
	return list->n == 0;
}

static const struct names_cgroup *cgroup_of(const struct names *names, uint64_t id)
{
	return names_cgroup_by_id(names_cgroups(names), names_n_cgroups(names), id);
}

static const struct names_process *process_of(const struct names *names, uint32_t tgid)
{
	return names_process_by_tgid(names_processes(names), names_n_processes(names), tgid);
}

static bool is_selected(const struct selecting *selecting, const struct tally_entry *entry)
{
	const struct selection *selection = selecting->selection;

	if (selection->counts && entry->count == 0 && entry->events == 0)
		return false;
	if (!has_id(&selection->tgids, entry->tgid) || !has_id(&selection->tids, entry->tid))
		return false;
	if (selection->name && fnmatch(selection->name, entry->comm, 0) != 0)
		return false;
	return cgroup_filter_matches(&selection->groups,
				     cgroup_of(selecting->from_names, entry->cgroup));
}

static int copy_string(struct names *names, const char **string)
{
	if (!*string)
		return 0;
	*string = names_string(names, *string);
	return *string ? 0 : -ENOMEM;
}

static int copy_object(struct selecting *selecting, uint32_t *object)
{
	uint32_t *id;

	if (*object == NAMES_NONE)
		return 0;
	id = &selecting->objects[*object];
	if (*id == NOT_YET) {
		struct names_object copy = names_objects(selecting->from_names)[*object];
		int r = copy_string(selecting->to_names, &copy.path);

		if (r == 0)
			r = names_add_object(selecting->to_names, &copy, id);
		if (r < 0)
			return r;
	}
	*object = *id;
	return 0;
}

static int copy_frame(struct selecting *selecting, struct names_frame *frame)
{
	const char **strings[] = { &frame->name, &frame->linkage_name, &frame->module,
				   &frame->file };

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		int r = copy_string(selecting->to_names, strings[i]);

		if (r < 0)
			return r;
	}
	return copy_object(selecting, &frame->object);
}

/* The frames of an address that is new in the result. */
static int copy_names(struct selecting *selecting, uint32_t address)
{
	struct names_address named = names_address(selecting->from_names, address);
	struct names_frame frames[NAMES_MAX_INLINED];
	uint32_t n = 0;

	for (uint32_t i = 0; i < named.n; i++) {
		int r;

		frames[n] = names_frame(selecting->from_names, named.first + i);
		/* The last one is the function that exists as code. */
		if (selecting->selection->no_inlined && i + 1 < named.n)
			continue;
		r = copy_frame(selecting, &frames[n++]);
		if (r < 0)
			return r;
	}
	return names_add_address(selecting->to_names, frames, n);
}

static int copy_address(struct selecting *selecting, uint32_t address, uint32_t *ret_id)
{
	uint32_t *id = &selecting->addresses[address];
	int r = 0;

	if (*id == NOT_YET) {
		*id = tally_n_addresses(selecting->to);
		r = tally_append_address(selecting->to, &tally_addresses(selecting->from)[address]);
		if (r == 0)
			r = copy_names(selecting, address);
	}
	*ret_id = *id;
	return r;
}

static int copy_frames(struct selecting *selecting, const struct tally_stack *stack,
		       uint32_t *ret_id)
{
	const uint32_t *frames = tally_frames(selecting->from, stack);
	uint32_t n_reason = tally_off_cpu_frames(selecting->from, stack); /* of no stack */
	uint32_t depth = selecting->selection->depth + n_reason;
	uint32_t n = stack->n_frames, flags = stack->flags;
	uint32_t ids[TALLY_MAX_FRAMES];

	if (selecting->selection->no_kernel && n_reason) {
		n = n_reason;
		flags = 0;
	} else if (selecting->selection->depth && n > depth) {
		/* As if the walk had been told to end there. */
		bool walked = TALLY_STACK_END(flags) != TALLY_END_NONE;

		flags &= TALLY_STACK_FLAGS;
		flags |= TALLY_STACK_CUT | TALLY_STACK_ENDED(walked ? TALLY_END_DEPTH : 0);
		n = depth;
	}
	for (uint32_t i = 0; i < n; i++) {
		int r = copy_address(selecting, frames[i], &ids[i]);

		if (r < 0)
			return r;
	}
	return tally_stack(selecting->to, ids, n, flags, ret_id);
}

static int copy_stack(struct selecting *selecting, bool left_out, uint32_t *stack)
{
	uint32_t *id;

	if (left_out)
		*stack = TALLY_STACK_NONE;
	if (*stack >= tally_n_stacks(selecting->from))
		return 0; /* none, or missed */
	id = &selecting->stacks[*stack];
	if (*id == NOT_YET) {
		int r = copy_frames(selecting, &tally_stacks(selecting->from)[*stack], id);

		if (r < 0)
			return r;
	}
	*stack = *id;
	return 0;
}

/* Of kernel stacks that are left out, what says why a thread was off the CPU stays. */
static bool leaves_out_kernel(const struct selecting *selecting, uint32_t stack)
{
	const struct tally *from = selecting->from;

	return selecting->selection->no_kernel &&
	       (stack >= tally_n_stacks(from) ||
		!tally_off_cpu_frames(from, &tally_stacks(from)[stack]));
}

static int copy_entry(struct selecting *selecting, struct tally_entry entry, uint32_t *ret_number)
{
	const struct names_cgroup *cgroup = cgroup_of(selecting->from_names, entry.cgroup);
	const struct names_process *process = process_of(selecting->from_names, entry.tgid);
	int r = copy_stack(selecting, leaves_out_kernel(selecting, entry.kernel), &entry.kernel);

	if (r == 0)
		r = copy_stack(selecting, selecting->selection->no_user, &entry.user);
	if (r == 0 && cgroup)
		r = names_add_cgroup(selecting->to_names, cgroup);
	if (r == 0 && process)
		r = names_add_process(selecting->to_names, process);
	return r < 0 ? r : tally_count(selecting->to, &entry, ret_number);
}

static void copy_losses(struct selecting *selecting)
{
	struct tally_losses *losses = tally_losses(selecting->to);

	*losses = *tally_losses_of(selecting->from);
	losses->events = tally_events(selecting->from) ? tally_events(selecting->to)
						       : tally_total(selecting->to);
	if (__builtin_add_overflow(losses->events, losses->lost_ring, &losses->events) ||
	    __builtin_add_overflow(losses->events, losses->lost_counts, &losses->events) ||
	    __builtin_add_overflow(losses->events, losses->lost_nested, &losses->events))
		losses->events = UINT64_MAX;
}

int selection_make(const struct selection *selection, const struct tally *tally,
		   const struct names *names, struct tally *ret_tally, struct names *ret_names,
		   uint32_t *ret_entry_of)
{
	own(own_free) uint32_t *addresses = make_ids(tally_n_addresses(tally));
	own(own_free) uint32_t *stacks = make_ids(tally_n_stacks(tally));
	own(own_free) uint32_t *objects = make_ids(names_n_objects(names));
	struct selecting selecting = { selection, tally,     names,  ret_tally,
				       ret_names, addresses, stacks, objects };

	if (!addresses || !stacks || !objects)
		return -ENOMEM;
	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		struct tally_entry entry = tally_entries(tally)[i];
		uint32_t number = SELECTION_LEFT_OUT;
		int r = 0;

		if (selection->counts) {
			entry.count = selection->counts[i].count;
			entry.events = selection->counts[i].events;
		}
		if (is_selected(&selecting, &entry))
			r = copy_entry(&selecting, entry, &number);
		if (r < 0)
			return r;
		if (ret_entry_of)
			ret_entry_of[i] = number;
	}
	copy_losses(&selecting);
	return 0;
}
