/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The hash that stacks are counted by: 96 bits over 64-bit words, seeded for each run. The kernel
 * side counts by it; user space recomputes it to check each stack it receives.
 *
 * It takes two words at a time, an odd last one with 0. The words' chains of multiplications go on
 * beside each other, which a processor does in half the time of one after the other. For given
 * words each step is a bijection of both lanes together, so stacks that differ in one word never
 * have the same lanes. The final mix makes each lane depend on the other.
 */
#ifndef STACKTALLY_BPF_STACK_HASH_H
#define STACKTALLY_BPF_STACK_HASH_H

#include "bpf/wire.h"

/* Adds two words. The hash starts as the seed. */
static inline __attribute__((always_inline)) void stack_hash_pair(struct wire_hash *hash,
								  __u64 first, __u64 second)
{
	hash->low = (hash->low ^ first) * 0x9fb21c651e98df25ull;
	hash->low ^= hash->low >> 32;
	hash->high = (hash->high + (second ^ hash->low)) * 0xd6e8feb86659fd93ull;
	hash->high ^= hash->high >> 29;
}

/* Mixes the lanes, once, after the last words. */
static inline __attribute__((always_inline)) void stack_hash_finish(struct wire_hash *hash)
{
	__u64 low = hash->low, high = hash->high;

	low = (low ^ (high >> 31)) * 0x94d049bb133111ebull;
	high = (high ^ (low >> 29)) * 0xbf58476d1ce4e5b9ull;
	hash->low = low ^ (high >> 32);
	hash->high = high >> 32;
}

/* The hash of `n` words at any address. */
static inline __attribute__((always_inline)) struct wire_hash
stack_hash_of(const __u64 *seed, const void *words, __u64 n)
{
	struct wire_hash hash = { seed[0], seed[1] };

	for (__u64 i = 0; i < n; i += 2) {
		__u64 pair[2] = { 0 };

		__builtin_memcpy(pair, (const char *)words + i * sizeof(*pair),
				 n - i > 1 ? sizeof(pair) : sizeof(*pair));
		stack_hash_pair(&hash, pair[0], pair[1]);
	}
	stack_hash_finish(&hash);
	return hash;
}

#endif
