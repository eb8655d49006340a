/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pattern would probe, for -l: told probe by probe, each with lines about it. Strings are
 * the callee's during a call, and may have any bytes of a hostile file.
 */
#ifndef STACKTALLY_TRIGGER_LISTING_H
#define STACKTALLY_TRIGGER_LISTING_H

/* What the kernel does at each event before the program runs, which counts and walks the stack. */
enum probe_cost {
	PROBE_COST_LOW,	   /* a call: tracepoints, functions of the kernel by ftrace */
	PROBE_COST_MEDIUM, /* a breakpoint, behind which it emulates the instruction */
	PROBE_COST_HIGH,   /* a breakpoint, and a single step of a copy of the instruction */
};

struct listed {
	const char *pattern; /* as stackcount takes it */
	const char *where;   /* "kernel", a module, or "+0x..", the place in the file */
	enum probe_cost cost;
};

struct listing {
	void (*probe)(void *to, const struct listed *probe);
	void (*detail)(void *to, const char *text); /* a line about the last probe */
	void (*note)(void *to, const char *text);   /* ... about all of them */
	void *to;
};

#endif
