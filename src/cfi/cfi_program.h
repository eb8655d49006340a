/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executes call frame instructions (DWARF 5, section 6.4; the GNU and ABI additions) and turns
 * the states they describe into rules. Keeps what a walk needs: CFA, frame pointer, return
 * address, one register more; the instructions on other registers are read and forgotten.
 *
 * Time is linear in the bytes of a program. Must not know: sections, files.
 */
#ifndef STACKTALLY_CFI_CFI_PROGRAM_H
#define STACKTALLY_CFI_CFI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/row_writer.h"
#include "elf/byte_reader.h"

/* How a register of the caller is found. */
enum cfi_how {
	CFI_UNSPECIFIED,
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET, /* at CFA + value */
	CFI_REGISTER,
	CFI_EXPRESSION, /* at the address that it gives */
	CFI_VALUE,	/* it is CFA + value, or what an expression gives */
};

struct cfi_register {
	enum cfi_how how;
	uint32_t size;	      /* of the expression */
	const uint8_t *bytes; /* of the expression; in the section */
	int64_t value;
};

struct cfi_state {
	uint64_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_bytes; /* NULL: not an expression */
	uint32_t cfa_size;
	/* `kept` is the register of WIRE_RULE_RBX_SAVED. */
	struct cfi_register fp, ra, sp, kept;
};

/* What is the same for all programs of a common information entry. */
struct cfi_frame {
	uint64_t code_align; /* 1 .. 255 */
	int64_t data_align;
	uint64_t ra_register;
	uint8_t address_encoding; /* DW_EH_PE_*: of DW_CFA_set_loc */
	bool is_signal;		  /* frames of signal handlers' callers */
	/* As the CIE's own instructions leave it. */
	struct cfi_state initial;
};

/*
 * Reads a pointer encoded by `encoding` at `reader`; `address` is that of reader->at, for
 * relative ones. False for encodings that have no meaning here.
 */
bool cfi_read_address(struct byte_reader *reader, uint8_t encoding, uint64_t address,
		      uint64_t *ret_value);

/* Where a program lies: its bytes, and the address of the first of them in memory. */
struct cfi_program {
	struct byte_reader bytes;
	uint64_t address;
};

/* Executes the CIE's own instructions into frame->initial. False: malformed. */
bool cfi_program_begin(struct cfi_frame *frame, const struct cfi_program *program);

/*
 * The rows of a piece of code, which begins where the program counts from. 0, -ENOMEM, -EFBIG;
 * -EBADMSG: malformed, from there on the code has a rule that says so.
 */
int cfi_program_rows(const struct cfi_frame *frame, const struct cfi_program *program,
		     uint32_t begin, uint32_t end, struct row_writer *writer);

/* The rule that a state amounts to. */
void cfi_rule(const struct cfi_frame *frame, const struct cfi_state *state,
	      struct wire_rule *ret_rule);

#endif
