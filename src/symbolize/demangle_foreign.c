// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/demangle_foreign.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

#define ARENA_SIZE (4u << 20) /* bytes for one name: most take some thousand */
#define ALIGNMENT  16u

/* Memory of one call. Blocks follow their sizes. */
struct arena {
	uint8_t *bytes;
	size_t used;
	jmp_buf stop;
};

/* The libraries' functions have no context. */
static _Thread_local struct arena *current;

/* The libraries' own, and what they call, by the names that the build gives them. */
char *foreign___cxa_demangle(const char *name, char *buffer, size_t *size, int *ret_status);
char *foreign_dlang_demangle(const char *name, int options);
void *foreign_malloc(size_t size);
void *foreign_realloc(void *block, size_t size);
void foreign_free(void *block);
void foreign_abort(void);

#define ALIAS(name, of) __typeof__(of) name __attribute__((alias(#of)));
ALIAS(foreign_xmalloc, foreign_malloc)
ALIAS(foreign_xrealloc, foreign_realloc)
ALIAS(foreign__ZdlPvm, foreign_free)
ALIAS(foreign_abort_message, foreign_abort)
ALIAS(foreign___abort_message, foreign_abort)
ALIAS(foreign__ZSt9terminatev, foreign_abort)
ALIAS(foreign___cxa_begin_catch, foreign_abort)
ALIAS(foreign__Unwind_Resume, foreign_abort)
ALIAS(foreign___gxx_personality_v0, foreign_abort)

/* The bases of vtables of type information. No code reads them. */
extern void *const foreign__ZTVN10__cxxabiv117__class_type_infoE[4];
extern void *const foreign__ZTVN10__cxxabiv120__si_class_type_infoE[4];
void *const foreign__ZTVN10__cxxabiv117__class_type_infoE[4] = { NULL };
void *const foreign__ZTVN10__cxxabiv120__si_class_type_infoE[4] = { NULL };

static void __attribute__((noreturn)) stop(void)
{
	longjmp(current->stop, 1);
}

void foreign_abort(void)
{
	stop();
}

void *foreign_malloc(size_t size)
{
	struct arena *arena = current;
	uint8_t *block = arena->bytes + arena->used + ALIGNMENT;

	if (size > ARENA_SIZE - 2 * ALIGNMENT || arena->used > ARENA_SIZE - 2 * ALIGNMENT - size)
		stop();
	memcpy(block - ALIGNMENT, &size, sizeof(size));
	arena->used += ALIGNMENT + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return block;
}

void *foreign_realloc(void *block, size_t size)
{
	void *larger = foreign_malloc(size);
	size_t old = 0;

	if (block)
		memcpy(&old, (uint8_t *)block - ALIGNMENT, sizeof(old));
	if (old)
		memcpy(larger, block, old < size ? old : size);
	return larger;
}

void foreign_free(void *block)
{
	(void)block;
}

static char *call_cxx(const char *name)
{
	int status = 0;

	return foreign___cxa_demangle(name, NULL, NULL, &status);
}

static char *call_d(const char *name)
{
	return foreign_dlang_demangle(name, 0);
}

static bool run(char *(*call)(const char *), const char *name, char *ret_name, size_t size)
{
	own(own_free) uint8_t *bytes = malloc(ARENA_SIZE);
	struct arena arena = { .bytes = bytes };
	const char *found;
	size_t length;

	if (!bytes || !size)
		return false;
	current = &arena;
	if (setjmp(arena.stop)) {
		current = NULL;
		return false;
	}
	found = call(name);
	current = NULL;
	length = found ? strlen(found) : 0;
	if (!length || length >= size)
		return false;
	memcpy(ret_name, found, length + 1);
	return true;
}

bool demangle_foreign_cxx(const char *name, char *ret_name, size_t size)
{
	return run(call_cxx, name, ret_name, size);
}

bool demangle_foreign_d(const char *name, char *ret_name, size_t size)
{
	return run(call_d, name, ret_name, size);
}
