// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/cfi_machine.h"

#include <elf.h>
#include <stddef.h>

#include "cfi/code_bytes.h"

static const struct cfi_machine machines[] = {
	{
		.elf = EM_X86_64,
		.n_registers = 16,
		.fp = 6, /* rbp */
		.sp = 7,
		.followed = 3, /* rbx */
		.link = CFI_NO_REGISTER,
		.code_align = 1,
		.signal_sp = 160,
		.signal_pc = 168,
		.signal_returns = { CODE_SIGNAL_RETURN, CODE_SIGNAL_RETURN_SHORT },
	},
	{
		.elf = EM_AARCH64,
		.n_registers = 32,
		.fp = 29,
		.sp = 31,
		.followed = CFI_NO_REGISTER,
		.link = 30,
		.code_align = 4,
		/* mov x8, #139; svc #0 */
		.signal_returns = { "68 11 80 d2 01 00 00 d4", "68 11 80 d2 01 00 00 d4" },
	},
};

static const struct cfi_machine unknown = {
	.fp = CFI_NO_REGISTER,
	.sp = CFI_NO_REGISTER,
	.followed = CFI_NO_REGISTER,
	.link = CFI_NO_REGISTER,
	.code_align = 1,
	.signal_returns = { "", "" },
};

const struct cfi_machine *cfi_machine_of(uint16_t elf)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].elf == elf)
			return &machines[i];
	}
	return &unknown;
}
