/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of an ELF file that match a pattern, as offsets in the file: from its symbol
 * tables and, where it is stripped, from its debug file or .gnu_debugdata. The file may be hostile.
 */
#ifndef STACKTALLY_TRIGGER_FUNCTIONS_H
#define STACKTALLY_TRIGGER_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "symbolize/line_places.h"
#include "trigger/code_point.h"
#include "trigger/nearest.h"

struct matcher;
struct pool;

struct function {
	const char *name;
	uint64_t offset;      /* in the file */
	bool unprobeable;     /* its first instruction is (trigger/unprobeable.h) */
	bool doubtful;	      /* no instruction may begin there (trigger/instruction_start.h) */
	bool emulated;	      /* the same */
	bool uncalled;	      /* with `calls`: a program begins there, with no return address */
	bool more;	      /* one more place of the function before (trigger/function_entry.h) */
	const char *version;  /* of the symbol; "": none. With `details`; else NULL */
	const char *readable; /* a mangled name as people write it; "": it is. The same */
};

/* A function in which no instruction begins at the offset that was asked for. */
struct function_bad {
	char name[128];		 /* "": there is none */
	uint64_t size;		 /* of the function, in bytes */
	uint64_t before, behind; /* instructions around the offset, if it is in the middle of one */
	bool middle;		 /* false: the offset is behind its end, or its code is not known */
};

/* Some functions, of which one is named. */
struct function_group {
	uint32_t n;
	char first[128];
};

struct functions {
	struct function *items; /* by offset, each offset once */
	uint32_t n;
	uint32_t n_unresolved; /* matching IFUNCs whose implementation is not known */
	uint32_t n_symbols;    /* function symbols in the file, matching or not */
	uint32_t n_inlined;    /* places where matching functions were inlined, as far as known */
	char unresolved[128];  /* the name of one of them */
	bool is_go;	       /* the file is a Go program, whose stacks move */
	bool throws;	       /* with `calls`: it has code of C++ or Rust that throws exceptions */
	struct pool *names;    /* owns the items' names */
	/* See trigger/function_name.h. */
	bool are_clones;		 /* nothing but clones of what the pattern names */
	struct function_group weaker;	 /* clones, or overloads in C++, that are not among them */
	struct function_group cold;	 /* cold parts that match; they are not among them */
	struct function_group turning;	 /* each turn of a loop of these counts */
	struct function_group unreached; /* nothing in the file leads to them; or `briefly` */
	struct function_bad bad;
	/* Of a line, or inlined functions: 0 or a negative errno of the search in the DWARF. */
	int dwarf;
	struct line_neighbours near; /* of the line */
};

/* All borrowed. */
struct functions_request {
	int fd;
	const char *path; /* for messages */
	const struct matcher *matcher;
	bool exported; /* only those that other files can call */
	bool calls;    /* where calls begin: the first byte, for probes on returns */
	const struct code_point *point;
	bool briefly;		 /* leaves n_inlined 0, which takes long to count */
	bool details;		 /* versions and readable names are wanted */
	pid_t pid;		 /* the process that will be probed; 0: all */
	struct nearest *nearest; /* gets the names that do not match; or NULL */
};

/*
 * Reads a file. 0, or a negative errno with `err` set.
 *
 * The symbol of an IFUNC is a resolver, not the function. The name stands for the implementation
 * that the resolver chose in a process that maps the file (trigger/ifunc.h), if a function of the
 * file begins there.
 */
int functions_read(const struct functions_request *request, struct functions *ret_functions,
		   struct error *err);
void functions_clear(struct functions *functions);

#endif
