// SPDX-License-Identifier: GPL-2.0-or-later
#include "walker.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#define MAX_NAMED 64

struct walker {
	struct tables *tables;
	struct {
		pid_t pid;
		Dwfl *dwfl; /* NULL: to be opened when it is needed */
	} named[MAX_NAMED];
	size_t n_named;
};

struct walker *walker_new(const char *spoil)
{
	struct walker *walker = calloc(1, sizeof(*walker));

	if (!walker)
		abort();
	walker->tables = tables_new();
	if (spoil && !tables_spoil(walker->tables, spoil)) {
		fprintf(stderr, "no such kind of rules: %s\n", spoil);
		exit(2);
	}
	return walker;
}

void walker_free(struct walker *walker)
{
	if (!walker)
		return;
	for (size_t i = 0; i < walker->n_named; i++)
		dwfl_end(walker->named[i].dwfl);
	tables_free(walker->tables);
	free(walker);
}

static Dwfl **named(struct walker *walker, pid_t pid)
{
	for (size_t i = 0; i < walker->n_named; i++)
		if (walker->named[i].pid == pid)
			return &walker->named[i].dwfl;
	if (walker->n_named == MAX_NAMED)
		abort();
	walker->named[walker->n_named].pid = pid;
	return &walker->named[walker->n_named++].dwfl;
}

void walker_update(struct walker *walker, pid_t pid)
{
	Dwfl **dwfl = named(walker, pid);

	tables_update(walker->tables, pid);
	dwfl_end(*dwfl);
	*dwfl = NULL;
}

void walker_walk(struct walker *walker, pid_t pid, const struct user_regs_struct *regs,
		 int (*read)(void *data, void *to, uint32_t size, uint64_t address), void *data,
		 struct native_stack *ret_stack)
{
	struct native_registers from = {
		.pc = regs->rip,
		.exact = true,
		.general = { regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi,
			     regs->rbp, regs->rsp, regs->r8, regs->r9, regs->r10, regs->r11,
			     regs->r12, regs->r13, regs->r14, regs->r15 },
	};
	struct native_walk what = {
		.tables = tables_native(walker->tables),
		.tgid = (uint32_t)pid,
		.may_chain = true,
		.max_frames = NATIVE_MAX_FRAMES,
		.read = read,
		.data = data,
	};

	native_walk(&what, &from, ret_stack);
}

static Dwfl *dwfl_of(struct walker *walker, pid_t pid)
{
	static char *debug_path = NULL;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &debug_path,
	};
	Dwfl **dwfl = named(walker, pid);

	if (*dwfl)
		return *dwfl;
	*dwfl = dwfl_begin(&callbacks);
	if (*dwfl && (dwfl_linux_proc_report(*dwfl, pid) || dwfl_report_end(*dwfl, NULL, NULL))) {
		dwfl_end(*dwfl);
		*dwfl = NULL;
	}
	return *dwfl;
}

void walker_name(struct walker *walker, pid_t pid, uint64_t address, char *text, size_t size)
{
	Dwfl *dwfl = dwfl_of(walker, pid);
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, address) : NULL;
	const char *path, *function, *base;
	GElf_Word section;
	GElf_Off offset;
	GElf_Addr bias;
	GElf_Sym symbol;

	if (!module) {
		snprintf(text, size, "0x%lx (?)", address);
		return;
	}
	path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	function = dwfl_module_addrinfo(module, address, &offset, &symbol, &section, NULL, &bias);
	if (function) {
		snprintf(text, size, "%s+0x%lx (%s)", function, (unsigned long)offset, base);
	} else {
		GElf_Addr start;

		dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
		snprintf(text, size, "-+0x%lx (%s)", address - start, base);
	}
}

void walker_rule(struct walker *walker, uint16_t number, char *text, size_t size)
{
	static const char *const cfa[] = {
		"none",	 "sp",	  "fp",	    "reg",	   "plt",
		"*(sp)", "*(fp)", "*(reg)", "*(sp+8*reg)", "unsupported"
	};
	static const char *const fp[] = { "same",      "*(cfa)", "*(fp)",
					  "undefined", "reg",	 "unsupported" };
	static const char *const ra[] = { "cfa-8",  "*(cfa+p)", "reg",	 "end",	       "entry",
					  "signal", "clone",	"fiber", "unsupported" };
	const struct native_tables *tables = tables_native(walker->tables);
	const struct wire_rule *rule = tables->rule(tables->data, number);

	if (!rule || rule->cfa >= 10 || WIRE_RULE_FP(rule) >= 6 || WIRE_RULE_RA(rule) >= 9) {
		snprintf(text, size, "?%u", number);
		return;
	}
	snprintf(text, size, "#%u cfa %s%+d fp %s%+d ra %s reg %u p %d", number, cfa[rule->cfa],
		 rule->cfa_offset, fp[WIRE_RULE_FP(rule)], rule->fp_offset, ra[WIRE_RULE_RA(rule)],
		 rule->reg, rule->extra);
}

const char *walker_end_name(enum wire_end end)
{
	static const char *const names[WIRE_N_ENDS] = {
		[WIRE_END_NONE] = "none",
		[WIRE_END_COMPLETE] = "complete",
		[WIRE_END_ENTRY] = "entry",
		[WIRE_END_FRAME_POINTER] = "frame-pointer",
		[WIRE_END_DEPTH] = "depth",
		[WIRE_END_NO_PROCESS] = "no-process",
		[WIRE_END_NO_MAPPING] = "no-mapping",
		[WIRE_END_SPECIAL] = "special",
		[WIRE_END_PENDING] = "pending",
		[WIRE_END_NO_CFI] = "no-cfi",
		[WIRE_END_EVICTED] = "evicted",
		[WIRE_END_BROKEN] = "broken",
		[WIRE_END_NO_ROW] = "no-row",
		[WIRE_END_CFA] = "cfa",
		[WIRE_END_FP] = "fp",
		[WIRE_END_RA] = "ra",
		[WIRE_END_REGISTER] = "register",
		[WIRE_END_READ] = "read",
		[WIRE_END_SP] = "sp",
		[WIRE_END_PC] = "pc",
		[WIRE_END_REGISTERS] = "registers",
		[WIRE_END_COMPAT] = "compat",
		[WIRE_END_STALE] = "stale",
		[WIRE_END_JIT] = "jit",
		[WIRE_END_TIME_USED_UP] = "time-used-up",
		[WIRE_END_NOT_OPENED] = "not-opened",
		[WIRE_END_FIBER] = "fiber",
	};

	return end < WIRE_N_ENDS && names[end] ? names[end] : "?";
}
