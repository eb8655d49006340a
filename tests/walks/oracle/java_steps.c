// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * java_steps [OPTION]... PID: compares walks of Java's generated code with true calls.
 *
 * Steps a thread of a process that runs one instruction at a time, keeps the calls that it is in
 * (java_calls.h), walks at each instruction of generated code, and compares the return address and
 * the frame pointer of each caller that is known.
 *
 *   --limit N       ends after N instructions of generated code (default 300,000)
 *   --thread NAME   the first one of that name (default "Worker")
 *   --show N        prints the first N of each kind of mismatch (default 2)
 *   --root DIR      the file system that the process sees, if that is not in /proc/PID/maps
 *
 * A wrong walk has another caller; a refused one has none, and a reason. Lines "code KIND N wrong N
 * refused N" are by what the instruction was in; the last line is for machines. The process is
 * killed at the end.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpreters/java_machine.h"
#include "tests/walks/in_memory/find_interpreter.h"
#include "tests/walks/in_memory/java.h"
#include "tests/walks/oracle/java_calls.h"

#define MOST_CALLERS 64
#define MAX_KINDS    64

/* What instructions were in, and what their walks were. */
struct counts {
	char name[64];
	bool compiled;
	unsigned long n, wrong, refused;
};

struct oracle {
	pid_t pid, tid;
	unsigned long limit, show, total, steps, callers;
	struct tracee *space;
	struct interpreter_start start;
	struct interpreter_memory memory;
	struct java_calls calls;
	struct java_state state;
	struct java_code code; /* that `state` is in */
	struct counts kinds[MAX_KINDS];
	size_t n_kinds;
};

static int read_space(void *data, void *to, size_t size, uint64_t address)
{
	return tracee_read(data, address, to, size);
}

/* ---- where the thread is ---- */

static bool in(uint64_t address, uint64_t low, uint64_t high)
{
	return address - low < high - low;
}

static enum java_place_kind place_of(const struct oracle *oracle, uint64_t pc)
{
	const struct wire_java_process *is = &oracle->start.machine;

	if (!in(pc, is->low, is->high))
		return JAVA_PLACE_NATIVE;
	if (in(pc, is->entry_low, is->entry_high) || strstr(oracle->code.name, "MethodHandles"))
		return JAVA_PLACE_ENTRIES;
	if (in(pc, is->interpreter_low, is->interpreter_high))
		return JAVA_PLACE_INTERPRETER;
	if (oracle->code.kind == JAVA_COMPILED || oracle->code.kind == JAVA_WRAPPER)
		return JAVA_PLACE_METHOD;
	if (oracle->code.kind == JAVA_ADAPTER)
		return JAVA_PLACE_ADAPTER;
	return strstr(oracle->code.name, "Deopt") || strstr(oracle->code.name, "UncommonTrap")
		       ? JAVA_PLACE_DEOPT
		       : JAVA_PLACE_OTHER;
}

static void look(struct oracle *oracle, const struct user_regs_struct *regs)
{
	struct java_state *state = &oracle->state;
	unsigned char code[16] = {};

	*state = (struct java_state){ .pc = regs->rip, .sp = regs->rsp, .fp = regs->rbp };
	oracle->code = (struct java_code){};
	if (in(regs->rip, oracle->start.machine.low, oracle->start.machine.high))
		java_code_at(&oracle->start, &oracle->memory, regs->rip, &oracle->code);
	state->kind = place_of(oracle, regs->rip);
	state->code = oracle->code.begin;
	state->code_end = oracle->code.end;
	state->enters = state->kind == JAVA_PLACE_ENTRIES || state->kind == JAVA_PLACE_ADAPTER ||
			(state->kind == JAVA_PLACE_METHOD &&
			 (regs->rip == oracle->code.begin || regs->rip == oracle->code.entry));
	if (tracee_read(oracle->space, regs->rip, code, sizeof(code)) == 0)
		state->next = tracee_decode(code, sizeof(code));
	if (tracee_read(oracle->space, regs->rsp, &state->top, sizeof(state->top)))
		state->top = 0;
}

/* ---- comparing ---- */

static struct counts *counts_of(struct oracle *oracle)
{
	const char *name = oracle->state.kind == JAVA_PLACE_ENTRIES ? "entries" : oracle->code.name;

	for (size_t i = 0; i < oracle->n_kinds; i++)
		if (strncmp(oracle->kinds[i].name, name, sizeof(oracle->kinds[i].name) - 1) == 0)
			return &oracle->kinds[i];
	if (oracle->n_kinds == MAX_KINDS)
		abort();
	snprintf(oracle->kinds[oracle->n_kinds].name, sizeof(oracle->kinds[0].name), "%s", name);
	oracle->kinds[oracle->n_kinds].compiled = oracle->state.kind == JAVA_PLACE_METHOD;
	return &oracle->kinds[oracle->n_kinds++];
}

/* The 16 bytes before an address, and from it on. */
static void print_bytes(const struct oracle *oracle, const char *what, uint64_t address)
{
	unsigned char code[32];

	if (tracee_read(oracle->space, address - 16, code, sizeof(code)))
		return;
	printf("    %-7s", what);
	for (size_t i = 0; i < sizeof(code); i++)
		printf("%s%02x", i == 16 ? " | " : " ", code[i]);
	printf("\n");
}

static void print_mismatch(struct oracle *oracle, const char *what, uint32_t at,
			   const struct java_caller *caller, const struct java_call *call,
			   uint32_t reason)
{
	printf("  %s at step %lu: %s+%#lx (entry +%#lx), sp %#lx, caller %u: true %#lx fp %#lx "
	       "slot +%#lx, "
	       "walked %#lx sp %#lx fp %#lx, reason %u\n",
	       what, oracle->steps, oracle->code.name, oracle->state.pc - oracle->code.begin,
	       oracle->code.entry - oracle->code.begin, oracle->state.sp, at, call->address,
	       call->fp, call->slot - oracle->state.sp, caller->pc, caller->sp, caller->fp, reason);
	print_bytes(oracle, "at", oracle->state.pc);
	print_bytes(oracle, "true", call->address);
	print_bytes(oracle, "walked", caller->pc);
}

/* Whether a walked caller is that of a call; a patched return address counts as it is now. */
static bool is_same(struct oracle *oracle, const struct java_caller *caller,
		    const struct java_call *call)
{
	uint64_t now = 0;

	if (caller->has_fp && caller->fp != call->fp)
		return false;
	if (caller->pc == call->address)
		return true;
	return tracee_read(oracle->space, call->slot, &now, sizeof(now)) == 0 &&
	       now == caller->pc && in(now, oracle->start.machine.low, oracle->start.machine.high);
}

static void compare(struct oracle *oracle)
{
	static struct java_caller callers[MOST_CALLERS];
	const struct java_calls *calls = &oracle->calls;
	struct counts *counts;
	uint32_t n, reason, i;

	if (!calls->n || calls->list[calls->n - 1].unknown)
		return;
	counts = counts_of(oracle);
	counts->n++;
	oracle->total++;
	memset(callers, 0, sizeof(callers));
	n = java_callers(&oracle->start, &oracle->memory, callers, MOST_CALLERS, &reason);
	for (i = 0; i < n && i < calls->n; i++) {
		const struct java_call *call = &calls->list[calls->n - 1 - i];

		if (call->unknown)
			return;
		oracle->callers++;
		if (is_same(oracle, &callers[i], call))
			continue;
		if (counts->wrong++ < oracle->show)
			print_mismatch(oracle, "WRONG", i, &callers[i], call, reason);
		return;
	}
	if (reason && i < calls->n && !calls->list[calls->n - 1 - i].unknown &&
	    counts->refused++ < oracle->show)
		print_mismatch(oracle, "REFUSED", i, &callers[i], &calls->list[calls->n - 1 - i],
			       reason);
}

/* ---- stepping ---- */

static void take_registers(struct interpreter_start *start, const struct user_regs_struct *is)
{
	const uint64_t registers[WIRE_N_REGISTERS] = {
		is->rax, is->rdx, is->rcx, is->rbx, is->rsi, is->rdi, is->rbp, is->rsp,
		is->r8,	 is->r9,  is->r10, is->r11, is->r12, is->r13, is->r14, is->r15,
	};

	memcpy(start->registers, registers, sizeof(registers));
	start->pc = is->rip;
}

static void stopped(struct oracle *oracle)
{
	struct java_state before = oracle->state;
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, oracle->tid, 0, &regs))
		return;
	tracee_ran(oracle->space);
	look(oracle, &regs);
	if (oracle->steps++)
		java_calls_follow(&oracle->calls, &before, &oracle->state);
	if (oracle->state.kind == JAVA_PLACE_NATIVE)
		return;
	take_registers(&oracle->start, &regs);
	compare(oracle);
}

static void step(struct oracle *oracle)
{
	int status, signal = 0;

	while (oracle->total < oracle->limit) {
		if (ptrace(PTRACE_SINGLESTEP, oracle->tid, 0, signal) ||
		    waitpid(oracle->tid, &status, __WALL) != oracle->tid || !WIFSTOPPED(status)) {
			fprintf(stderr, "java_steps: the thread has ended\n");
			return;
		}
		signal = status >> 16 || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (!signal)
			stopped(oracle);
	}
}

static void start(struct oracle *oracle, const char *thread, const char *root)
{
	struct java_memory memory = { read_space, NULL };
	const char *why = NULL;
	int status;

	oracle->space = memory.data = tracee_new(oracle->pid);
	oracle->memory = (struct interpreter_memory){ read_space, oracle->space };
	if (find_interpreter(oracle->pid, root, &language_java, &oracle->start) ||
	    java_machine_read(&memory, &oracle->start.is.java, oracle->start.bias,
			      &oracle->start.machine, &why) ||
	    oracle->start.machine.refused) {
		fprintf(stderr, "java_steps: process %d has no such machine: %s\n", oracle->pid,
			why ? why : "no libjvm");
		exit(2);
	}
	oracle->start.machine.number = 1;
	oracle->tid = find_thread(oracle->pid, thread);
	if (oracle->tid < 0 || ptrace(PTRACE_SEIZE, oracle->tid, 0, 0) ||
	    ptrace(PTRACE_INTERRUPT, oracle->tid, 0, 0) ||
	    waitpid(oracle->tid, &status, __WALL) != oracle->tid) {
		fprintf(stderr, "java_steps: cannot stop thread %s: %s\n", thread, strerror(errno));
		exit(2);
	}
}

static int print_result(const struct oracle *oracle)
{
	unsigned long wrong = 0, refused = 0, compiled = 0, compiled_wrong = 0,
		      compiled_refused = 0;

	for (size_t i = 0; i < oracle->n_kinds; i++) {
		const struct counts *counts = &oracle->kinds[i];

		printf("code %s %lu wrong %lu refused %lu\n", counts->name, counts->n,
		       counts->wrong, counts->refused);
		wrong += counts->wrong;
		refused += counts->refused;
		if (!counts->compiled)
			continue;
		compiled += counts->n;
		compiled_wrong += counts->wrong;
		compiled_refused += counts->refused;
	}
	printf("instructions=%lu steps=%lu callers=%lu wrong=%lu refused=%lu compiled=%lu "
	       "compiled_wrong=%lu "
	       "compiled_refused=%lu\n",
	       oracle->total, oracle->steps, oracle->callers, wrong, refused, compiled,
	       compiled_wrong, compiled_refused);
	return oracle->total < oracle->limit || wrong;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "limit", 1, NULL, 'l' },
						 { "thread", 1, NULL, 't' },
						 { "show", 1, NULL, 's' },
						 { "root", 1, NULL, 'r' },
						 {} };
	static struct oracle oracle = { .limit = 300000, .show = 2 };
	const char *thread = "Worker", *root = "/";
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (option) {
		case 'l':
			oracle.limit = strtoul(optarg, NULL, 10);
			break;
		case 't':
			thread = optarg;
			break;
		case 's':
			oracle.show = strtoul(optarg, NULL, 10);
			break;
		case 'r':
			root = optarg;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: java_steps [OPTION]... PID\n");
		return 2;
	}
	oracle.pid = atoi(argv[optind]);
	start(&oracle, thread, root);
	step(&oracle);
	kill(oracle.pid, SIGKILL);
	return print_result(&oracle);
}
