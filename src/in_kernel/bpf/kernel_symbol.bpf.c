// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Look-ups in the kernel's symbol table. Not attached to anything: user space runs these programs
 * (BPF_PROG_RUN; loader/kernel_lookup.c). One look-up takes 2 us; printing all of /proc/kallsyms
 * takes the kernel tens of ms.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/wire.h"

/* The question, and then the answer. */
struct wire_symbol kernel_symbol;

/* Writes to `text` the symbol at `address`, as "NAME+0xOFFSET/0xSIZE [MODULE]". */
SEC("?syscall")
int symbol_at(void *context __attribute__((unused)))
{
	static const char format[] = "%pS";

	return (int)bpf_snprintf(kernel_symbol.text, sizeof(kernel_symbol.text), format,
				 &kernel_symbol.address, sizeof(kernel_symbol.address));
}

/* Writes to `address` that of the symbol named in `text`; 0 and an error if there is none. */
SEC("?syscall")
int symbol_named(void *context __attribute__((unused)))
{
	__u64 address = 0;
	long r = bpf_kallsyms_lookup_name(kernel_symbol.text, sizeof(kernel_symbol.text), 0,
					  &address);

	kernel_symbol.address = address;
	return (int)r;
}
