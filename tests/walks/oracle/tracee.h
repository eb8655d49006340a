/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes under test as ptrace shows them: their memory, their mappings and what kind of
 * instruction is next. Knows nothing of unwinding.
 */
#ifndef STACKTALLY_TESTS_TRACEE_H
#define STACKTALLY_TESTS_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum instruction {
	INSTRUCTION_OTHER,
	INSTRUCTION_CALL,
	INSTRUCTION_RETURN,
	INSTRUCTION_JUMP,
	INSTRUCTION_SYSTEM_CALL,
};

struct area {
	uint64_t start, end;
	bool executable;
};

#define TRACEE_CACHE_PAGES 64

struct tracee_page {
	uint64_t address; /* 1: none */
	unsigned long round;
	bool readable;
	unsigned char bytes[4096];
};

/* An address space. */
struct tracee {
	pid_t pid;
	struct area *areas; /* ascending; as of the last tracee_read_areas() */
	size_t n_areas;
	unsigned long round;			      /* pages of earlier rounds are read again */
	struct tracee_page pages[TRACEE_CACHE_PAGES]; /* data */
	struct tracee_page code[TRACEE_CACHE_PAGES];
};

struct tracee *tracee_new(pid_t pid);
void tracee_free(struct tracee *tracee);

/* Call it after the process has run: memory is read again. */
static inline void tracee_ran(struct tracee *tracee)
{
	tracee->round++;
}

/* Call it when the mappings may have changed. */
void tracee_read_areas(struct tracee *tracee);
/* The end of the mapping that contains the address, 0 if there is none. */
uint64_t tracee_area(const struct tracee *tracee, uint64_t address);

/* Returns 0 or -1. */
int tracee_read(struct tracee *tracee, uint64_t address, void *buffer, size_t size);
enum instruction tracee_instruction(struct tracee *tracee, uint64_t pc);
enum instruction tracee_decode(const unsigned char *code, size_t n);

/* Starts a program, stopped before its first instruction. Exits if that is impossible. */
pid_t tracee_start(char *const argv[]);
/* Runs the process up to an address. */
bool tracee_run_to(pid_t pid, uint64_t address);
/* An entry of the auxiliary vector, 0 if there is none. */
uint64_t tracee_auxv(pid_t pid, uint64_t type);

#endif
