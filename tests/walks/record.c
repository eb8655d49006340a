// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record LANGUAGE PID FILE ROOT: stops a process of an interpreter, walks the frames of its thread
 * "busy", or else its main thread, by the BPF programs' code, and keeps the memory that this has
 * read (tests/walks/in_memory/interpreter.h). Prints the runs. tests/walks/record builds and runs
 * it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "interpreters/java_machine.h"
#include "interpreters/languages.h"
#include "tests/walks/in_memory/find_interpreter.h"

struct recorder {
	pid_t pid;
	FILE *file;
};

/* Reads without keeping it. */
static int read_memory(void *data, void *to, size_t size, uint64_t address)
{
	const struct recorder *recorder = data;
	struct iovec here = { to, size }, there = { (void *)address, size };

	return process_vm_readv(recorder->pid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

static int read_and_keep(void *data, void *to, size_t size, uint64_t address)
{
	const struct recorder *recorder = data;
	uint64_t range[2] = { address, size };

	if (read_memory(data, to, size, address) < 0)
		return -1;
	fwrite(range, sizeof(range), 1, recorder->file);
	fwrite(to, size, 1, recorder->file);
	return 0;
}

#define READER(ID, id, ...) { #id, &language_##id },

static const struct {
	const char *name;
	const struct language_reader *reader;
} readers[] = { LANGUAGES(READER, LANGUAGES_NOTHING, LANGUAGES_NOTHING) };

static void take_registers(struct interpreter_start *start, const struct user_regs_struct *is)
{
	const uint64_t registers[WIRE_N_REGISTERS] = {
		is->rax, is->rdx, is->rcx, is->rbx, is->rsi, is->rdi, is->rbp, is->rsp,
		is->r8,	 is->r9,  is->r10, is->r11, is->r12, is->r13, is->r14, is->r15,
	};

	memcpy(start->registers, registers, sizeof(registers));
	start->pc = is->rip;
	start->thread = is->fs_base;
}

/* What the walk needs of a machine of Java. */
static int read_machine(struct recorder *recorder, struct interpreter_start *start)
{
	const struct java_memory memory = { read_memory, recorder };
	const char *why;

	if (start->is.language != LANGUAGE_JAVA)
		return 0;
	if (java_machine_read(&memory, &start->is.java, start->bias, &start->machine, &why) < 0 ||
	    start->machine.refused)
		return -1;
	start->machine.number = 1;
	return 0;
}

int main(int argc, char **argv)
{
	const struct language_reader *reader = NULL;
	struct interpreter_start start = { 0 };
	struct user_regs_struct registers;
	struct recorder recorder;
	static char text[65536];
	pid_t thread;
	int status;

	for (size_t i = 0; argc == 5 && i < sizeof(readers) / sizeof(readers[0]); i++)
		if (strcmp(argv[1], readers[i].name) == 0)
			reader = readers[i].reader;
	if (!reader)
		return fprintf(stderr, "usage: record LANGUAGE PID FILE ROOT\n"), 2;
	recorder = (struct recorder){ .pid = atoi(argv[2]), .file = fopen(argv[3], "w") };
	thread = find_thread(recorder.pid, "busy");
	if (thread < 0)
		thread = recorder.pid;
	if (!recorder.file || ptrace(PTRACE_ATTACH, thread, 0, 0) < 0 ||
	    waitpid(thread, &status, __WALL) < 0 ||
	    ptrace(PTRACE_GETREGS, thread, 0, &registers) < 0)
		return perror("record"), 1;
	if (find_interpreter(recorder.pid, argv[4], reader, &start) < 0 ||
	    read_machine(&recorder, &start) < 0)
		return fprintf(stderr, "record: no such interpreter\n"), 1;
	take_registers(&start, &registers);
	interpreter_start_write(&start, recorder.file);
	interpreter_runs(&start, &(struct interpreter_memory){ read_and_keep, &recorder }, text,
			 sizeof(text));
	fputs(text, stdout);
	return fclose(recorder.file) ? 1 : 0;
}
