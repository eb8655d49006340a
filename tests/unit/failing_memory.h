/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations that fail when a test says so: takes the places of malloc(), calloc(), realloc() and
 * reallocarray() in the whole program, the C library's own calls included.
 */
#ifndef STACKTALLY_TESTS_FAILING_MEMORY_H
#define STACKTALLY_TESTS_FAILING_MEMORY_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

extern void *REAL(malloc)(size_t size);
extern void *REAL(calloc)(size_t n, size_t size);
extern void *REAL(realloc)(void *old, size_t size);

/* Volatile, because compilers assume that allocations change no variables. */
static volatile uint64_t memory_left = UINT64_MAX; /* allocations until one fails */
static volatile bool memory_failed;

/* Lets `n` allocations succeed and the next one fail. */
static inline void memory_fails_after(uint64_t n)
{
	memory_failed = false;
	memory_left = n;
}

/* No allocation fails any more. Returns whether one did. */
static inline bool memory_is_back(void)
{
	memory_left = UINT64_MAX;
	return memory_failed;
}

static bool fails_now(void)
{
	if (memory_left == UINT64_MAX || memory_left-- > 0)
		return false;
	memory_left = UINT64_MAX;
	memory_failed = true;
	errno = ENOMEM;
	return true;
}

/* In children allocations succeed: the parent would not see that their copy of the counter ends. */
static void give_memory(void)
{
	memory_left = UINT64_MAX;
}

static __attribute__((constructor)) void spare_children(void)
{
	pthread_atfork(NULL, NULL, give_memory);
}

void *malloc(size_t size)
{
	return fails_now() ? NULL : REAL(malloc)(size);
}

void *calloc(size_t n, size_t size)
{
	return fails_now() ? NULL : REAL(calloc)(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails_now() ? NULL : REAL(realloc)(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

#endif
