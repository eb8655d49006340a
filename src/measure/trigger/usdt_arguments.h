/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arguments of a USDT probe, where its note says they are: "-4@%edi 8@-16(%rbp) 4@$5". The text
 * may be hostile. Registers are those of struct pt_regs, the context of a probe's program.
 */
#ifndef STACKTALLY_TRIGGER_USDT_ARGUMENTS_H
#define STACKTALLY_TRIGGER_USDT_ARGUMENTS_H

#include "expression/event_value.h"

#define USDT_ARGUMENTS_MAX 12u /* as <sys/sdt.h> has it */

/*
 * Those that are numbers in registers, in memory or in the text; `size` 0: not understood, as
 * floating point or an address by a symbol. Returns how many there are.
 */
uint32_t usdt_arguments_parse(const char *text, struct event_value ret_list[USDT_ARGUMENTS_MAX]);

/* Where that context has the address of the probe. */
extern const uint32_t usdt_arguments_address;

#endif
