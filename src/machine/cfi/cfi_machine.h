/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What call frame information means for the machine that a file was made for. Files of any machine
 * that is known here can be compiled on any other one.
 */
#ifndef STACKTALLY_CFI_CFI_MACHINE_H
#define STACKTALLY_CFI_CFI_MACHINE_H

#include <stdint.h>

#define CFI_NO_REGISTER 255

struct cfi_machine {
	uint16_t elf;	     /* EM_*; EM_NONE: a machine that is not known */
	uint8_t n_registers; /* that rules may name, by DWARF number */
	uint8_t fp, sp;
	uint8_t followed;   /* see WIRE_RULE_RBX_SAVED; CFI_NO_REGISTER: none */
	uint8_t link;	    /* has the return address of a call; CFI_NO_REGISTER: none */
	uint8_t code_align; /* bytes: all instructions begin at multiples of it */
	/* In the kernel's signal frame, bytes from the stack pointer; 0: CFI does not tell it. */
	uint8_t signal_sp, signal_pc;
	const char *signal_returns[2]; /* what the kernel returns to from handlers (code_bytes.h) */
};

/* Never NULL. */
const struct cfi_machine *cfi_machine_of(uint16_t elf);

#endif
