// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * What the kernel calls its own code: run by user space (BPF_PROG_RUN), attached to nothing. One
 * answer takes 2 us, where all of /proc/kallsyms takes the kernel tens of ms to print.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/wire.h"

struct wire_symbol kernel_symbol;

/* As stack traces of the kernel have it: "NAME+0xOFFSET/0xSIZE [MODULE]". */
SEC("?syscall")
int symbol_at(void *context __attribute__((unused)))
{
	static const char format[] = "%pS";

	return (int)bpf_snprintf(kernel_symbol.text, sizeof(kernel_symbol.text), format,
				 &kernel_symbol.address, sizeof(kernel_symbol.address));
}

/* The address of the symbol whose name is in `text`. */
SEC("?syscall")
int symbol_named(void *context __attribute__((unused)))
{
	__u64 address = 0;
	long r = bpf_kallsyms_lookup_name(kernel_symbol.text, sizeof(kernel_symbol.text), 0,
					  &address);

	kernel_symbol.address = address;
	return (int)r;
}
