/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An instruction clears the signature of an address, wherever that begins: `xpaclri`, which works
 * on x30 and does nothing on machines without signatures.
 */
static inline unsigned int arch_address_bits(void)
{
	register unsigned long x30 asm("x30") = (1ul << 55) - 1;

	asm volatile("hint #7" : "+r"(x30)); /* xpaclri */
	return 64 - (unsigned int)__builtin_clzl(x30);
}
