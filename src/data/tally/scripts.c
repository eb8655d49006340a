// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/scripts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/pool.h"
#include "tally/end.h"

/* Further functions stay without a name: processes can make any number. */
#define SCRIPTS_MAX (1u << 20)
#define TEXT_MAX    (64u << 20) /* bytes of names and paths, as if each were stored by itself */

struct scripts {
	pthread_mutex_t lock;
	struct pool *strings;
	struct script *list;
	uint32_t n, capacity;
	size_t text; /* bytes of names and paths */
	struct index index;
};

const char *script_reason_name(uint64_t reason)
{
	static const char *const names[SCRIPT_N_REASONS] = {
		[SCRIPT_KNOWN] = "name lost",
		[SCRIPT_VERSION] = "version unknown",
		[SCRIPT_FREE_THREADED] = "free-threaded",
		[SCRIPT_DISAGREES] = "other structures",
		[SCRIPT_NO_STATE] = "no state",
		[SCRIPT_UNREADABLE] = "unreadable",
		[SCRIPT_TORN] = "torn",
		[SCRIPT_UNMATCHED] = "unmatched",
		[SCRIPT_TOO_DEEP] = "too deep",
		[SCRIPT_EARLY] = "not known yet",
		[SCRIPT_DELEGATED] = "delegating generators",
		[SCRIPT_BETWEEN] = "between functions",
		[SCRIPT_INLINED] = "inlined functions not shown",
		[CODE_NEAR] = "inlined function not exact",
		[CODE_NO_CODE] = "unknown code",
		[CODE_NO_CALLER] = "caller not found",
		[CODE_FROZEN] = "frozen frames",
		[CODE_ARCHITECTURE] = "not on this architecture",
	};

	return reason < SCRIPT_N_REASONS ? names[reason] : NULL;
}

const char *off_cpu_leaf_name(uint64_t id)
{
	static const char *const names[OFF_CPU_N_LEAVES] = {
		[OFF_CPU_LEAF_BLOCKED] = "[blocked]",
		[OFF_CPU_LEAF_WAITING] = "[waiting for a CPU]",
		[OFF_CPU_LEAF_WOKEN] = "--", /* as in bcc's offwaketime */
		[OFF_CPU_WAKER_TIMER] = "[timer interrupt]",
		[OFF_CPU_WAKER_INTERRUPT] = "[interrupt]",
		[OFF_CPU_WAKER_UNKNOWN] = "[waker not known]",
		[OFF_CPU_LEAF_UNREAD] = "[stack not read]",
		[OFF_CPU_LEAF_ASLEEP] = "[blocked since before the start]",
	};

	if (id >= OFF_CPU_WAKER_END && id < OFF_CPU_WAKER_END + TALLY_N_ENDS)
		return tally_end_frame((enum tally_end)(id - OFF_CPU_WAKER_END));
	return id < OFF_CPU_N_LEAVES ? names[id] : NULL;
}

int scripts_new(struct scripts **ret_codes)
{
	struct scripts *scripts = calloc(1, sizeof(*scripts));
	int r;

	if (!scripts)
		return -ENOMEM;
	r = pool_new(&scripts->strings);
	if (r < 0) {
		free(scripts);
		return r;
	}
	pthread_mutex_init(&scripts->lock, NULL);
	*ret_codes = scripts;
	return 0;
}

void scripts_free(struct scripts *scripts)
{
	if (!scripts)
		return;
	pthread_mutex_destroy(&scripts->lock);
	pool_free(scripts->strings);
	index_free(&scripts->index);
	free(scripts->list);
	free(scripts);
}

static const struct script *find(const struct scripts *scripts, uint64_t id)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&scripts->index, hash_u64(id), &cursor); at != INDEX_NONE;
	     at = index_next(&scripts->index, &cursor))
		if (scripts->list[at].id == id)
			return &scripts->list[at];
	return NULL;
}

static int add(struct scripts *scripts, const struct script *script)
{
	size_t size = strlen(script->name) + strlen(script->file);
	struct script copy = *script;
	int r;

	if (scripts->n >= SCRIPTS_MAX || scripts->text + size > TEXT_MAX ||
	    find(scripts, script->id))
		return 0;
	copy.name = pool_string(scripts->strings, script->name);
	copy.file = pool_string(scripts->strings, script->file);
	if (!copy.name || !copy.file)
		return -ENOMEM;
	r = grow(&scripts->list, &scripts->capacity, (size_t)scripts->n + 1);
	if (r == 0)
		r = index_add(&scripts->index, hash_u64(script->id), scripts->n);
	if (r < 0)
		return r;
	scripts->list[scripts->n++] = copy;
	scripts->text += size;
	return 0;
}

int scripts_add(struct scripts *scripts, const struct script *script)
{
	int r;

	pthread_mutex_lock(&scripts->lock);
	r = add(scripts, script);
	pthread_mutex_unlock(&scripts->lock);
	return r;
}

bool scripts_find(struct scripts *scripts, uint64_t id, struct script *ret_script)
{
	const struct script *found;

	if (!scripts)
		return false;
	pthread_mutex_lock(&scripts->lock);
	found = find(scripts, id);
	if (found)
		*ret_script = *found;
	pthread_mutex_unlock(&scripts->lock);
	return found != NULL;
}
