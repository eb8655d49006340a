// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record LANGUAGE PID FILE ROOT: stops a process of an interpreter, walks the frames of its main
 * thread by the BPF programs' code, and keeps the memory that this has read
 * (tests/walks/in_memory/interpreter.h). Prints the runs. tests/walks/record builds and runs it.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "elf/load_segments.h"
#include "interpreters/languages.h"
#include "tests/walks/in_memory/interpreter.h"

struct recorder {
	pid_t pid;
	FILE *file;
};

static int read_and_keep(void *data, void *to, size_t size, uint64_t address)
{
	const struct recorder *recorder = data;
	struct iovec here = { to, size }, there = { (void *)address, size };
	uint64_t range[2] = { address, size };

	if (process_vm_readv(recorder->pid, &here, 1, &there, 1, 0) != (ssize_t)size)
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

/* The first mapping of a file that contains the interpreter. */
static int find_interpreter(pid_t pid, const char *root, const struct language_reader *reader,
			    struct interpreter_start *start)
{
	char path[64], line[4096], file[4096], below[8192];
	uint64_t from, to, offset;
	struct load_segments segments;
	struct elf_file *elf = NULL;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		int fd;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &from,
			   &to, &offset, file) != 4 ||
		    !strstr(file, reader->file_name))
			continue;
		snprintf(below, sizeof(below), "%s%s",
			 strncmp(file, root, strlen(root)) ? root : "", file);
		fd = open(below, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || load_segments_read(fd, &segments) < 0 || elf_file_open(fd, &elf) < 0)
			continue;
		if (reader->read(elf, &start->is) == 0 && start->is.language &&
		    load_segments_bias(&segments, from, offset, &start->bias))
			return 0;
	}
	return -1;
}

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

int main(int argc, char **argv)
{
	const struct language_reader *reader = NULL;
	struct interpreter_start start = { 0 };
	struct user_regs_struct registers;
	struct recorder recorder;
	static char text[65536];
	int status;

	for (size_t i = 0; argc == 5 && i < sizeof(readers) / sizeof(readers[0]); i++)
		if (strcmp(argv[1], readers[i].name) == 0)
			reader = readers[i].reader;
	if (!reader)
		return fprintf(stderr, "usage: record LANGUAGE PID FILE ROOT\n"), 2;
	recorder = (struct recorder){ .pid = atoi(argv[2]), .file = fopen(argv[3], "w") };
	if (!recorder.file || ptrace(PTRACE_ATTACH, recorder.pid, 0, 0) < 0 ||
	    waitpid(recorder.pid, &status, 0) < 0 ||
	    ptrace(PTRACE_GETREGS, recorder.pid, 0, &registers) < 0)
		return perror("record"), 1;
	if (find_interpreter(recorder.pid, argv[4], reader, &start) < 0)
		return fprintf(stderr, "record: no such interpreter\n"), 1;
	take_registers(&start, &registers);
	interpreter_start_write(&start, recorder.file);
	interpreter_runs(&start, &(struct interpreter_memory){ read_and_keep, &recorder }, text,
			 sizeof(text));
	fputs(text, stdout);
	return fclose(recorder.file) ? 1 : 0;
}
