// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/shared_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/part.h"

void shared_facts_scope(const struct plan *plan, char *ret_scope, size_t size)
{
	const struct id_list *list =
		plan->filter.tgids.n ? &plan->filter.tgids : &plan->filter.tids;
	const char *what = plan->filter.tgids.n ? "PID" : "TID";
	size_t at;

	if (plan->command && !list->n) {
		snprintf(ret_scope, size, "'%s'", plan->command[0]);
		return;
	}
	if (!list->n) {
		snprintf(ret_scope, size, PROFILE_SCOPE_ALL);
		return;
	}
	at = (size_t)snprintf(ret_scope, size, list->n == 1 ? "%s " : "%s [", what);
	for (uint32_t i = 0; i < list->n && at < size; i++)
		at += (size_t)snprintf(ret_scope + at, size - at, "%s%d", i ? ", " : "",
				       list->ids[i]);
	if (list->n > 1 && at < size)
		snprintf(ret_scope + at, size - at, "]");
}

/* As the kernel writes lists: runs of numbers that follow each other. */
void shared_facts_cpus(const struct plan_filter *filter, char *ret_text, size_t size)
{
	const struct id_list *cpus = &filter->cpus;
	size_t at = 0;

	*ret_text = '\0';
	for (uint32_t i = 0, last; i < cpus->n && at < size; i = last + 1) {
		last = i;
		while (last + 1 < cpus->n && cpus->ids[last + 1] == cpus->ids[last] + 1)
			last++;
		at += (size_t)snprintf(ret_text + at, size - at, "%s%d", i ? "," : "",
				       cpus->ids[i]);
		if (last > i && at < size)
			at += (size_t)snprintf(ret_text + at, size - at, "-%d", cpus->ids[last]);
	}
}

static void add_condition(struct shared_texts *texts, const char *what, const char *value)
{
	size_t used = strlen(texts->filter);

	if (value)
		snprintf(texts->filter + used, sizeof(texts->filter) - used, "%s%s%s",
			 used ? ", " : "", what, value);
}

void shared_facts_meta(const struct plan *plan, struct shared_texts *texts,
		       struct profile_meta *meta)
{
	const struct plan_filter *filter = &plan->filter;
	char cpus[256];

	shared_facts_scope(plan, texts->scope, sizeof(texts->scope));
	shared_facts_cpus(filter, cpus, sizeof(cpus));
	texts->filter[0] = '\0';
	add_condition(texts, "", filter->follow_forks ? "with children" : NULL);
	add_condition(texts, filter->cpus.n > 1 ? "CPUs " : "CPU ", filter->cpus.n ? cpus : NULL);
	add_condition(texts, "NUMA node ", filter->node);
	add_condition(texts, "processes of ", filter->exe);
	add_condition(texts, "threads named ", filter->name);
	add_condition(texts, "user ", filter->user);
	add_condition(texts, "cgroup ", part_cgroup(filter->groups.cgroup));
	add_condition(texts, "service ", filter->groups.service);
	add_condition(texts, "container ", filter->groups.container);
	add_condition(texts, "pod ", filter->groups.pod);
	add_condition(texts, "cgroups in the map ", filter->cgroupmap);
	add_condition(texts, "mount namespaces in the map ", filter->mntnsmap);
	add_condition(texts, "", plan->filter.condition);
	meta->scope = texts->scope;
	meta->filter = texts->filter[0] ? texts->filter : NULL;
	meta->hash_storage = plan->hash_storage;
	meta->stack_storage = plan->stack_storage;
	meta->user = plan->user;
	meta->kernel = plan->kernel;
	meta->has = (struct profile_details){ .processes = true,
					      .threads = plan->per_thread,
					      .cgroups = plan->per_cgroup,
					      .idle = filter->include_idle,
					      .inlines = plan->inlines,
					      .lines = plan->lines };
}

/* Characters that need no quoting. */
#define BARE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

static void put_word(FILE *out, const char *word)
{
	if (*word && word[strspn(word, BARE)] == '\0') {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

char *shared_facts_command_line(int argc, char *const *argv)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < argc; i++) {
		if (i > 0)
			fputc(' ', out);
		put_word(out, argv[i]);
	}
	if (fclose(out) != 0) {
		free(line);
		return NULL;
	}
	return line;
}
