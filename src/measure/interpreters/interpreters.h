/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreters that processes have mapped: finds them in files, and tells the BPF programs how
 * to read their stacks (bpf/interpreter_wire.h). What is known of an interpreter is known of its
 * file, so it is looked up once, however many processes run it, and before the first of them has
 * begun. Confined children read the files, and their answers are checked.
 *
 * For one thread. Must not know: stacks, names, when processes change.
 */
#ifndef STACKTALLY_INTERPRETERS_INTERPRETERS_H
#define STACKTALLY_INTERPRETERS_INTERPRETERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"
#include "bpf/interpreter_wire.h"
#include "bpf/unwind_wire.h"
#include "process/images.h"

struct interpreters;

/*
 * The languages whose interpreters a file may contain by what it exports: a bit for each, 1 << enum
 * language. To be set as the marker of images before the first file is met.
 */
uint32_t interpreters_mark(const struct elf_file *elf);

/* Borrows the images, and the descriptor of the map `interpreters`. 0 or a negative errno. */
int interpreters_new(const struct images *images, int map, struct interpreters **ret_interpreters);
void interpreters_free(struct interpreters *interpreters);
DEFINE_OWN(struct interpreters, interpreters_free)

/* The number of the interpreter that a file of the images contains; 0: none. */
uint32_t interpreters_of_file(struct interpreters *interpreters, uint32_t file);

/*
 * Whether a file of the images contains one, whose language is then among interpreters_languages():
 * for a program that is about to run.
 */
bool interpreters_expect(struct interpreters *interpreters, uint32_t file);

/*
 * Languages are those of processes that are met, not of all files that are read. While `begins` is
 * set, processes that are idle are met when a stack of theirs comes: interpreters_saw().
 */
void interpreters_spare_idle(struct interpreters *interpreters, bool begins);

/* A stack of a process has come. */
void interpreters_saw(struct interpreters *interpreters, pid_t tgid);

/*
 * A process has mapped these interpreters, or its mappings have changed; none: it has none any
 * more, or has ended. 0 or -ENOMEM.
 */
int interpreters_process(struct interpreters *interpreters, pid_t tgid,
			 const struct wire_mapped_interpreter *list, uint32_t n);

/*
 * Reads what Java virtual machines say of themselves, of those that were not ready before, and
 * writes it to the map `java_processes`; a negative descriptor: there is none.
 */
void interpreters_try(struct interpreters *interpreters, int map, uint64_t now);

/* What the BPF programs know of the interpreter with that number; NULL: there is none. */
const struct wire_interpreter *interpreters_at(const struct interpreters *interpreters,
					       uint32_t number);
/* What they know of the Java virtual machine of a process. False: nothing. */
bool interpreters_java(const struct interpreters *interpreters, pid_t tgid,
		       struct wire_java_process *ret_process);

/*
 * What does not fit in the description of a virtual machine that is not walked, a constant, and
 * whose it is; NULL: there is none.
 */
const char *interpreters_refused(const struct interpreters *interpreters, pid_t *ret_tgid);

/*
 * The languages of those in the files that were asked about, or of processes that were met, see
 * interpreters_spare_idle(): a bit for each, 1 << enum language.
 */
uint32_t interpreters_languages(const struct interpreters *interpreters);

/*
 * The languages of the interpreters that run now and are not idle, by the names of programs in
 * /proc: they need not be all, nor be such. Looks for some ms at most.
 */
uint32_t interpreters_running(void);

/* The language whose evaluator an image has at the address; LANGUAGE_NONE. */
enum language interpreters_evaluator(const struct interpreters *interpreters, uint32_t image,
				     uint64_t address);

#endif
