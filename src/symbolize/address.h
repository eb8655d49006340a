/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the symbol of a tally's address is looked up.
 */
#ifndef STACKTALLY_SYMBOLIZE_ADDRESS_H
#define STACKTALLY_SYMBOLIZE_ADDRESS_H

#include <stdbool.h>

#include "tally/tally.h"

/*
 * The page of vsyscalls, which all processes have at one address. Linux has three functions there,
 * this far apart (arch/x86/entry/vsyscall/vsyscall_emu_64.S).
 */
#define VSYSCALL_PAGE	0xffffffffff600000ull
#define VSYSCALL_SIZE	1024u
#define VSYSCALL_N	3
#define VSYSCALL_MODULE "[vsyscall]"

static inline bool address_is_vsyscall(const struct tally_address *address)
{
	return address->address - VSYSCALL_PAGE < (uint64_t)VSYSCALL_N * VSYSCALL_SIZE;
}

/* TALLY_IMAGE_KERNEL is also the image of processes that nothing is known of. */
static inline bool address_is_kernel(const struct tally_address *address)
{
	return address->image == TALLY_IMAGE_KERNEL && address->address >> 63 &&
	       !address_is_vsyscall(address);
}

/*
 * The byte before a return address, which belongs to the call: the return address itself is in the
 * next function when the call is the last instruction of its own (a call that does not return).
 */
static inline uint64_t address_to_look_up(const struct tally_address *address)
{
	bool exact = (address->flags & TALLY_ADDRESS_EXACT) || !address->address;

	return exact ? address->address : address->address - 1;
}

#endif
