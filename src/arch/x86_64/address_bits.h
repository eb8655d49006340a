/* SPDX-License-Identifier: GPL-2.0-or-later */
static inline unsigned int arch_address_bits(void)
{
	return 56; /* LA57 */
}
