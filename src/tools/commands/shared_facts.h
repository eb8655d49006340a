/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts of a measurement that reports and titles tell, as a plan and a command line have them.
 */
#ifndef STACKTALLY_COMMANDS_SHARED_FACTS_H
#define STACKTALLY_COMMANDS_SHARED_FACTS_H

#include <stddef.h>

#include "plan/plan.h"
#include "report/writer.h"

/* argv quoted for a shell, allocated; NULL when out of memory. */
char *shared_facts_command_line(int argc, char *const *argv);

/* The facts that both commands know alike. The texts are borrowed. */
struct shared_texts {
	char scope[256], filter[700];
};
void shared_facts_meta(const struct plan *plan, struct shared_texts *texts,
		       struct profile_meta *meta);

/* The CPUs of a filter, as the kernel writes lists; "": all. */
void shared_facts_cpus(const struct plan_filter *filter, char *ret_text, size_t size);

/* For titles, the scope of a measurement: "all threads", "PID 7", "TID [7, 8]", "'make'". */
void shared_facts_scope(const struct plan *plan, char *ret_scope, size_t size);

#endif
