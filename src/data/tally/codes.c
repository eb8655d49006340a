// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/codes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/pool.h"
#include "tally/end.h"

/* Further functions stay without a name: processes can make any number. */
#define CODES_MAX (1u << 20)
#define TEXT_MAX  (64u << 20) /* bytes of names and paths, as if each were stored by itself */

struct codes {
	pthread_mutex_t lock;
	struct pool *strings;
	struct code *list;
	uint32_t n, room;
	size_t text; /* bytes of names and paths */
	struct index index;
};

const char *code_reason_name(uint64_t reason)
{
	static const char *const names[CODE_N_REASONS] = {
		[CODE_KNOWN] = "name lost",
		[CODE_VERSION] = "version unknown",
		[CODE_FREE_THREADED] = "free-threaded",
		[CODE_DISAGREES] = "other structures",
		[CODE_NO_STATE] = "no state",
		[CODE_UNREADABLE] = "unreadable",
		[CODE_TORN] = "torn",
		[CODE_UNMATCHED] = "unmatched",
		[CODE_TOO_DEEP] = "too deep",
		[CODE_EARLY] = "not known yet",
		[CODE_DELEGATED] = "delegating generators",
		[CODE_BETWEEN] = "between functions",
		[CODE_INLINED] = "inlined functions not shown",
		[CODE_NEAR] = "inlined function not exact",
		[CODE_NO_CODE] = "unknown code",
		[CODE_NO_CALLER] = "caller not found",
		[CODE_FROZEN] = "frozen frames",
	};

	return reason < CODE_N_REASONS ? names[reason] : NULL;
}

const char *code_off_cpu_name(uint64_t id)
{
	static const char *const names[CODE_N_OFF_CPU] = {
		[CODE_OFF_CPU_BLOCKED] = "[blocked]",
		[CODE_OFF_CPU_WAITING] = "[waiting for a CPU]",
		[CODE_OFF_CPU_WOKEN] = "--", /* as in bcc's offwaketime */
		[CODE_WAKER_TIMER] = "[timer interrupt]",
		[CODE_WAKER_INTERRUPT] = "[interrupt]",
		[CODE_WAKER_UNKNOWN] = "[waker not known]",
		[CODE_OFF_CPU_UNREAD] = "[stack not read]",
	};

	if (id >= CODE_WAKER_END && id < CODE_WAKER_END + TALLY_N_ENDS)
		return tally_end_frame((enum tally_end)(id - CODE_WAKER_END));
	return id < CODE_N_OFF_CPU ? names[id] : NULL;
}

int codes_new(struct codes **ret_codes)
{
	struct codes *codes = calloc(1, sizeof(*codes));
	int r;

	if (!codes)
		return -ENOMEM;
	r = pool_new(&codes->strings);
	if (r < 0) {
		free(codes);
		return r;
	}
	pthread_mutex_init(&codes->lock, NULL);
	*ret_codes = codes;
	return 0;
}

void codes_free(struct codes *codes)
{
	if (!codes)
		return;
	pthread_mutex_destroy(&codes->lock);
	pool_free(codes->strings);
	index_free(&codes->index);
	free(codes->list);
	free(codes);
}

static const struct code *find(const struct codes *codes, uint64_t id)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&codes->index, hash_u64(id), &cursor); at != INDEX_NONE;
	     at = index_next(&codes->index, &cursor))
		if (codes->list[at].id == id)
			return &codes->list[at];
	return NULL;
}

static int add(struct codes *codes, const struct code *code)
{
	size_t size = strlen(code->name) + strlen(code->file);
	struct code copy = *code;
	int r;

	if (codes->n >= CODES_MAX || codes->text + size > TEXT_MAX || find(codes, code->id))
		return 0;
	copy.name = pool_string(codes->strings, code->name);
	copy.file = pool_string(codes->strings, code->file);
	if (!copy.name || !copy.file)
		return -ENOMEM;
	r = grow(&codes->list, &codes->room, (size_t)codes->n + 1);
	if (r == 0)
		r = index_add(&codes->index, hash_u64(code->id), codes->n);
	if (r < 0)
		return r;
	codes->list[codes->n++] = copy;
	codes->text += size;
	return 0;
}

int codes_add(struct codes *codes, const struct code *code)
{
	int r;

	pthread_mutex_lock(&codes->lock);
	r = add(codes, code);
	pthread_mutex_unlock(&codes->lock);
	return r;
}

bool codes_find(struct codes *codes, uint64_t id, struct code *ret_code)
{
	const struct code *found;

	if (!codes)
		return false;
	pthread_mutex_lock(&codes->lock);
	found = find(codes, id);
	if (found)
		*ret_code = *found;
	pthread_mutex_unlock(&codes->lock);
	return found != NULL;
}
