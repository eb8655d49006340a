/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executes call frame instructions (DWARF 5, section 6.4; the GNU and ABI additions) and turns the
 * states they describe into rules. Keeps what a walk needs: CFA, frame pointer, return address,
 * stack pointer and one more register; instructions for other registers are read and ignored.
 *
 * Time is linear in the bytes of the instructions. Must not know: sections, files.
 */
#ifndef STACKTALLY_CFI_CFI_PROGRAM_H
#define STACKTALLY_CFI_CFI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/cfi_machine.h"
#include "cfi/row_writer.h"
#include "elf/byte_reader.h"

/* How a register of the caller is recovered; DWARF 5, 6.4.1. */
enum cfi_register_rule {
	CFI_UNSPECIFIED,
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,	/* in memory at CFA + value */
	CFI_REGISTER,	/* in the register `value` */
	CFI_EXPRESSION, /* in memory at the expression's result */
	CFI_VALUE,	/* CFA + value, or the expression's result */
};

struct cfi_register {
	enum cfi_register_rule rule;
	uint32_t size;	      /* of the expression, bytes */
	const uint8_t *bytes; /* of the expression, in the section; NULL: none */
	int64_t value;
};

struct cfi_state {
	uint64_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_bytes; /* NULL: not an expression */
	uint32_t cfa_size;
	struct cfi_register fp, ra, sp, rbx; /* rbx: see WIRE_RULE_RBX_SAVED */
};

/* What all FDEs of a CIE share. */
struct cfi_frame {
	const struct cfi_machine *machine;
	uint64_t code_align; /* 1 .. 255 */
	int64_t data_align;
	uint64_t ra_register;
	uint8_t address_encoding; /* DW_EH_PE_*: of DW_CFA_set_loc */
	bool is_signal;		  /* signal frames (augmentation 'S') */
	/* The state after the CIE's own instructions. */
	struct cfi_state initial;
};

/* The instructions of a CIE or FDE. */
struct cfi_program {
	struct byte_reader bytes;
	uint64_t address; /* p_vaddr of the first byte */
	bool interrupted; /* the return address is no call's */
};

/* Executes the CIE's own instructions into frame->initial. False: malformed. */
bool cfi_program_begin(struct cfi_frame *frame, const struct cfi_program *program);

/*
 * Writes the rows of the code from `begin`, the FDE's initial location, to `end`. 0, -ENOMEM,
 * -EFBIG; -EBADMSG: malformed, the code from there on is unsupported.
 */
int cfi_program_rows(const struct cfi_frame *frame, const struct cfi_program *program,
		     uint32_t begin, uint32_t end, struct row_writer *writer);

/* Whether one rule, `*ret_rule`, holds for all of that code. */
bool cfi_program_is_constant(const struct cfi_frame *frame, const struct cfi_program *program,
			     uint32_t begin, uint32_t end, struct wire_rule *ret_rule);

/* The rule that expresses a state, or one that says why none does. */
void cfi_rule(const struct cfi_frame *frame, const struct cfi_state *state,
	      struct wire_rule *ret_rule);

#endif
