// SPDX-License-Identifier: GPL-2.0-or-later
#include "tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ull

static void forget_code(struct tracee *tracee)
{
	for (size_t i = 0; i < TRACEE_CACHE_PAGES; i++)
		tracee->code[i].address = 1;
}

struct tracee *tracee_new(pid_t pid)
{
	struct tracee *tracee = calloc(1, sizeof(*tracee));

	if (!tracee)
		abort();
	tracee->pid = pid;
	for (size_t i = 0; i < TRACEE_CACHE_PAGES; i++)
		tracee->pages[i].address = 1;
	tracee_read_areas(tracee);
	return tracee;
}

void tracee_free(struct tracee *tracee)
{
	if (tracee)
		free(tracee->areas);
	free(tracee);
}

void tracee_read_areas(struct tracee *tracee)
{
	char path[64], line[512], mode[8];
	struct area area;
	FILE *file;

	forget_code(tracee);
	tracee->n_areas = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", tracee->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %4s", &area.start, &area.end, mode) != 3)
			continue;
		area.executable = mode[2] == 'x';
		tracee->areas = realloc(tracee->areas, (tracee->n_areas + 1) * sizeof(area));
		if (!tracee->areas)
			abort();
		tracee->areas[tracee->n_areas++] = area;
	}
	fclose(file);
}

/* The main stack grows downwards: addresses below it, down to its limit, belong to it. */
uint64_t tracee_area(const struct tracee *tracee, uint64_t address)
{
	size_t i = 0;

	while (i < tracee->n_areas && tracee->areas[i].end <= address)
		i++;
	if (i == tracee->n_areas)
		return 0;
	/* The end, because it stays the same when the stack grows. */
	if (address >= tracee->areas[i].start || tracee->areas[i].start - address < 64 << 20)
		return tracee->areas[i].end;
	return 0;
}

static struct tracee_page *page_of(struct tracee *tracee, struct tracee_page *pages,
				   uint64_t address, bool code)
{
	struct tracee_page *page = &pages[address / PAGE % TRACEE_CACHE_PAGES];
	struct iovec to = { page->bytes, PAGE };
	struct iovec from = { (void *)(uintptr_t)(address & -PAGE), PAGE };

	if (page->address == (address & -PAGE) && (code || page->round == tracee->round))
		return page;
	page->address = address & -PAGE;
	page->round = tracee->round;
	page->readable = process_vm_readv(tracee->pid, &to, 1, &from, 1, 0) == (ssize_t)PAGE;
	return page;
}

int tracee_read(struct tracee *tracee, uint64_t address, void *buffer, size_t size)
{
	while (size) {
		const struct tracee_page *page = page_of(tracee, tracee->pages, address, false);
		size_t offset = address % PAGE;
		size_t n = PAGE - offset < size ? PAGE - offset : size;

		if (!page->readable)
			return -1;
		memcpy(buffer, page->bytes + offset, n);
		buffer = (char *)buffer + n;
		address += n;
		size -= n;
	}
	return 0;
}

static size_t read_code(struct tracee *tracee, uint64_t pc, unsigned char bytes[16])
{
	size_t got = 0;

	while (got < 16) {
		const struct tracee_page *page = page_of(tracee, tracee->code, pc + got, true);

		if (!page->readable)
			break;
		bytes[got] = page->bytes[(pc + got) % PAGE];
		got++;
	}
	return got;
}

enum instruction tracee_decode(const unsigned char *code, size_t n)
{
	size_t i = 0;
	static const unsigned char prefixes[] = { 0x66, 0xf2, 0xf3, 0x2e, 0x36,
						  0x3e, 0x64, 0x65, 0x67 };

	while (i < n && (memchr(prefixes, code[i], sizeof(prefixes)) || (code[i] & 0xf0) == 0x40))
		i++;
	if (i + 1 >= n)
		return INSTRUCTION_OTHER;
	switch (code[i]) {
	case 0xe8:
		return INSTRUCTION_CALL;
	case 0xc3:
	case 0xc2:
		return INSTRUCTION_RETURN;
	case 0xe9:
	case 0xeb:
		return INSTRUCTION_JUMP;
	case 0x0f:
		return code[i + 1] == 0x05 ? INSTRUCTION_SYSTEM_CALL : INSTRUCTION_OTHER;
	case 0xff:
		if ((code[i + 1] >> 3 & 7) == 2)
			return INSTRUCTION_CALL;
		return (code[i + 1] >> 3 & 7) == 4 ? INSTRUCTION_JUMP : INSTRUCTION_OTHER;
	}
	return INSTRUCTION_OTHER;
}

enum instruction tracee_instruction(struct tracee *tracee, uint64_t pc)
{
	unsigned char code[16] = {};

	return tracee_decode(code, read_code(tracee, pc, code));
}

pid_t tracee_start(char *const argv[])
{
	struct rlimit stack = { 64 << 20, RLIM_INFINITY };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		/* Space for frames of 12 MB, and the same addresses in every run. */
		setrlimit(RLIMIT_STACK, &stack);
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
		fprintf(stderr, "shadow: cannot start %s under ptrace\n", argv[0]);
		exit(2);
	}
	return pid;
}

bool tracee_run_to(pid_t pid, uint64_t address)
{
	struct user_regs_struct regs;
	int status;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, address, 0);
	if (errno || ptrace(PTRACE_POKETEXT, pid, address, (word & ~0xffl) | 0xcc) ||
	    ptrace(PTRACE_CONT, pid, 0, 0) || waitpid(pid, &status, 0) != pid ||
	    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_POKETEXT, pid, address, word) || ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return false;
	regs.rip = address;
	return !ptrace(PTRACE_SETREGS, pid, 0, &regs);
}

uint64_t tracee_auxv(pid_t pid, uint64_t type)
{
	uint64_t entry[2], value = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "re");
	while (file && fread(entry, sizeof(entry), 1, file) == 1)
		if (entry[0] == type)
			value = entry[1];
	if (file)
		fclose(file);
	return value;
}
