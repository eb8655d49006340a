/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The hash that stacks are counted by: 96 bits over 64-bit words, seeded for each run. The kernel
 * side counts by it; user space recomputes it to check each stack it receives.
 *
 * Two lanes multiply by different odd constants. For a given word, each step is a bijection of its
 * lane, so stacks that differ in one word collide in neither lane. The final mix makes each lane
 * depend on the other.
 */
#ifndef STACKTALLY_BPF_STACK_HASH_H
#define STACKTALLY_BPF_STACK_HASH_H

#include "bpf/wire.h"

/* Adds a word. The hash starts as the seed. */
static inline __attribute__((always_inline)) void stack_hash_word(struct wire_hash *hash,
								  __u64 word)
{
	hash->low = (hash->low ^ word) * 0x9fb21c651e98df25ull;
	hash->low ^= hash->low >> 32;
	hash->high = (hash->high + word) * 0xd6e8feb86659fd93ull;
	hash->high = (hash->high << 29) | (hash->high >> 35);
}

/* Mixes the lanes, once, after the last word. */
static inline __attribute__((always_inline)) void stack_hash_finish(struct wire_hash *hash)
{
	__u64 low = hash->low, high = hash->high;

	low = (low ^ (high >> 31)) * 0x94d049bb133111ebull;
	high = (high ^ (low >> 29)) * 0xbf58476d1ce4e5b9ull;
	hash->low = low ^ (high >> 32);
	hash->high = high >> 32;
}

#endif
