/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who had the counts of a profile: its processes, those of one name as one row, or its services and
 * containers; of each the state of its threads and the function of the program that has most.
 *
 * A process has the name of its first thread or, where that is not known, of its busiest one. The
 * profile and its base need PROFILE_VIEW_PROCESS, and for services PROFILE_VIEW_CGROUP. Must not
 * know: formats.
 */
#ifndef STACKTALLY_VIEW_PROCESS_LIST_H
#define STACKTALLY_VIEW_PROCESS_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "view/entry_groups.h"
#include "view/entry_parts.h"
#include "view/profile.h"
#include "view/service.h"

struct process_row {
	char name[SERVICE_NAME_SIZE];
	uint32_t n_processes; /* 0: their ids are not known */
	uint32_t tgid;	      /* of one of them */
	uint64_t total;
	uint64_t events; /* that it is the sum of; 0 unless counts are sums */
	uint64_t by_state[ENTRY_N_STATES];
	uint64_t base_total;		    /* scaled to compare with `total` */
	uint32_t function;		    /* frame of the profile; ENTRY_NO_FRAME */
	const struct tally_entry *heaviest; /* NULL: in the base only */
};

struct process_list {
	struct process_row *rows; /* the largest total first; with a base, the largest change */
	uint32_t n;
	bool of_services; /* and not processes */
};

/* 0 or -ENOMEM. */
int process_list_make(const struct profile *profile, bool by_service,
		      struct process_list *ret_list);
void process_list_clear(struct process_list *list);

/* The name of the process that the entries of a group, by process, are of. */
void process_list_name(const struct profile *profile, const struct entry_groups *groups,
		       const struct entry_group *group, char ret_name[SERVICE_NAME_SIZE]);

#endif
