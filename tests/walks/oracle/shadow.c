// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shadow [OPTION]... PROGRAM [ARG]...: compares walks with true stacks.
 *
 * Runs a program one instruction at a time under ptrace, keeps the true stack of each of its
 * threads and children (shadow_stack.h), walks at every instruction, and compares: the addresses
 * of all frames, which of them were interrupted, and that the walk ends as complete.
 *
 *   --limit N       ends after N instructions (default 3,000,000)
 *   --from-start    from the first instruction, in the dynamic linker; else from the program's
 *                   entry point
 *   --signal N      sends SIGUSR1 before every Nth instruction of the program's own code, once it
 *                   has a handler for it, but not in handlers
 *   --known FILE    mismatches that are explained (known.h)
 *   --show N        prints the first N mismatches (default 5)
 *   --spoil KIND    makes rules of a kind (tables.c) wrong, to show that the comparison fails then
 *   --trace         prints every instruction's true stack
 *
 * A wrong walk differs from the true stack; a short one is a part of it, from the leaf on, and has
 * a reason for its end. `ahead` counts walks that give the stack after a jump (longjmp, setcontext)
 * that the function is about to make; they are compared again at the jump.
 *
 * The last line is for machines: `instructions=N wrong=N short=N known=N ahead=N ...`. Exit status
 * 1 if anything is wrong or short and not known.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "known.h"
#include "shadow_stack.h"
#include "tracee.h"
#include "walker.h"

#define MAX_TASKS   64
#define MAX_PENDING 64

/* A walk that differs from the true stack now, but may equal it after a jump. */
struct pending {
	uint64_t pc;
	uint16_t rule;
	enum wire_end end;
	uint32_t n, n_true;
	uint64_t *frames; /* owned: `n` walked ones, then `n_true` true ones */
};

struct task {
	pid_t tid;
	struct tracee *space;
	bool started, gone;
	uint64_t parent_sp; /* the parent's stack pointer at the fork */
	struct user_regs_struct regs;
	enum instruction instruction; /* at regs.rip */
	int signal;		      /* being delivered */
	struct shadow_stack shadow;
	struct pending pending[MAX_PENDING];
	size_t n_pending;
};

struct totals {
	unsigned long instructions, frames, wrong, incomplete, known, ahead, assumed, injected;
	unsigned long deepest;
};

struct oracle {
	unsigned long limit, signal_every, show, shown;
	bool from_start, trace;
	bool takes_signals; /* has a handler for SIGUSR1 */
	struct known *known;
	struct walker *walker;
	struct task tasks[MAX_TASKS];
	size_t n_tasks;
	pid_t program;
	uint64_t own_start, own_end; /* the program's code */
	struct totals totals;
	struct shadow_counts gone; /* sums of tasks that ended */
	unsigned long own_steps;
	struct native_stack stack;
};

static struct task *task_of(struct oracle *oracle, pid_t tid)
{
	for (size_t i = 0; i < oracle->n_tasks; i++)
		if (oracle->tasks[i].tid == tid && !oracle->tasks[i].gone)
			return &oracle->tasks[i];
	return NULL;
}

static struct task *task_add(struct oracle *oracle, pid_t tid)
{
	struct task *task;

	if (oracle->n_tasks == MAX_TASKS) {
		fprintf(stderr, "shadow: more than %d tasks\n", MAX_TASKS);
		exit(2);
	}
	task = &oracle->tasks[oracle->n_tasks++];
	memset(task, 0, sizeof(*task));
	task->tid = tid;
	return task;
}

/* ---- comparing ---- */

static uint64_t true_frame(const struct task *task, size_t i)
{
	const struct shadow_entry *entry;

	if (i == 0)
		return task->regs.rip;
	entry = &task->shadow.list.entries[task->shadow.list.n - i];
	return entry->address | (entry->interrupted ? WIRE_FRAME_EXACT : 0);
}

static void print_frames(struct oracle *oracle, pid_t pid, const char *title, size_t n,
			 const uint64_t *frames, size_t differs)
{
	char name[256];

	fprintf(stderr, "    %s, %zu frames:\n", title, n);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < differs && i > 2)
			continue;
		if (i > differs + 4)
			break;
		walker_name(oracle->walker, pid, frames[i] & WIRE_FRAME_ADDRESS, name,
			    sizeof(name));
		fprintf(stderr, "      %c #%zu %s%s\n", i == differs ? '*' : ' ', i, name,
			frames[i] & WIRE_FRAME_EXACT ? " (interrupted)" : "");
	}
}

static void judge(struct oracle *oracle, struct task *task, const struct pending *walk)
{
	const uint64_t *truth = walk->frames + walk->n;
	char name[256], text[256];
	size_t same = 0;
	bool wrong;

	while (same < walk->n_true && same < walk->n && walk->frames[same] == truth[same])
		same++;
	wrong = same < walk->n || walk->end == WIRE_END_COMPLETE || walk->end == WIRE_END_ENTRY;
	/* The step from the last true frame went wrong. */
	walker_name(oracle->walker, task->space->pid,
		    (truth[same - 1] & WIRE_FRAME_ADDRESS) - (same > 1), name, sizeof(name));
	if (known_match(oracle->known, name, wrong ? "wrong" : walker_end_name(walk->end))) {
		oracle->totals.known++;
		return;
	}
	if (wrong)
		oracle->totals.wrong++;
	else
		oracle->totals.incomplete++;
	if (oracle->shown++ >= oracle->show)
		return;
	walker_rule(oracle->walker, walk->rule, text, sizeof(text));
	walker_name(oracle->walker, task->space->pid, walk->pc, name, sizeof(name));
	fprintf(stderr, "  %s at %s, instruction %lu: ends as %s, last rule %s\n",
		wrong ? "WRONG" : "SHORT", name, oracle->totals.instructions,
		walker_end_name(walk->end), text);
	print_frames(oracle, task->space->pid, "true", walk->n_true, truth, same);
	print_frames(oracle, task->space->pid, "walked", walk->n, walk->frames, same);
}

/* Counts the pending walks as wrong. */
static void settle_pending(struct oracle *oracle, struct task *task)
{
	for (size_t i = 0; i < task->n_pending; i++) {
		judge(oracle, task, &task->pending[i]);
		free(task->pending[i].frames);
	}
	task->n_pending = 0;
}

/* The task has jumped to `regs`: compares the pending walks with the stack there. */
static void compare_pending(struct oracle *oracle, struct task *task)
{
	for (size_t i = 0; i < task->n_pending; i++) {
		struct pending *walk = &task->pending[i];
		size_t n_true = task->shadow.list.n + 1, at = 0;

		if (walk->n == n_true + 1 && walk->end == WIRE_END_COMPLETE)
			while (at < n_true && walk->frames[at + 1] == true_frame(task, at))
				at++;
		if (at == n_true)
			oracle->totals.ahead++;
		else
			judge(oracle, task, walk);
		free(walk->frames);
	}
	task->n_pending = 0;
}

static int read_space(void *data, void *to, uint32_t size, uint64_t address)
{
	return tracee_read(data, address, to, size);
}

static void check(struct oracle *oracle, struct task *task)
{
	struct native_stack *stack = &oracle->stack;
	size_t n_true = task->shadow.list.n + 1, i = 0;
	struct pending *pending;

	walker_walk(oracle->walker, task->space->pid, &task->regs, read_space, task->space, stack);
	oracle->totals.instructions++;
	oracle->totals.frames += stack->n;
	oracle->totals.assumed += stack->assumed;
	if (n_true > oracle->totals.deepest)
		oracle->totals.deepest = n_true;
	while (i < n_true && i < stack->n && stack->frames[i] == true_frame(task, i))
		i++;
	if (i == n_true && stack->n == n_true &&
	    (stack->end == WIRE_END_COMPLETE || stack->end == WIRE_END_ENTRY)) {
		return;
	}
	if (task->n_pending == MAX_PENDING)
		settle_pending(oracle, task);
	pending = &task->pending[task->n_pending++];
	*pending = (struct pending){ .pc = task->regs.rip,
				     .rule = stack->last_rule,
				     .end = stack->end,
				     .n = stack->n,
				     .n_true = (uint32_t)n_true };
	pending->frames = calloc(stack->n + n_true, sizeof(*stack->frames));
	if (!pending->frames)
		abort();
	memcpy(pending->frames, stack->frames, stack->n * sizeof(*stack->frames));
	for (i = 0; i < n_true; i++)
		pending->frames[stack->n + i] = true_frame(task, i);
}

/* ---- following ---- */

static uint64_t word_at(struct task *task, uint64_t address)
{
	uint64_t word = 0;

	return tracee_read(task->space, address, &word, sizeof(word)) ? 0 : word;
}

static void moved(struct oracle *oracle, struct task *task, const struct user_regs_struct *now)
{
	struct shadow_target target = {
		.pc = now->rip,
		.sp = now->rsp,
		.area = tracee_area(task->space, now->rsp),
		.at_sp = word_at(task, now->rsp),
	};

	shadow_moved(&task->shadow, &target);
	task->regs = *now;
	compare_pending(oracle, task);
}

/* Offsets of the interrupted rsp and rip in a signal frame, behind the return address. */
#define FRAME_RSP (8 + 40 + 15 * 8)
#define FRAME_RIP (8 + 40 + 16 * 8)

static bool entered_handler(struct task *task, const struct user_regs_struct *now)
{
	struct shadow_entry entry = { .interrupted = true };

	if (word_at(task, now->rsp + FRAME_RSP) != task->regs.rsp)
		return false;
	entry.slot = task->regs.rsp;
	entry.area = tracee_area(task->space, entry.slot);
	/* Not regs.rip: the kernel may restart an interrupted system call. */
	entry.address = word_at(task, now->rsp + FRAME_RIP);
	shadow_push(&task->shadow, entry);
	shadow_push(&task->shadow,
		    (struct shadow_entry){ .slot = now->rsp,
					   .address = word_at(task, now->rsp),
					   .area = tracee_area(task->space, now->rsp) });
	return true;
}

static void after_call(struct task *task, const struct user_regs_struct *now)
{
	uint64_t next = word_at(task, now->rsp);

	if (now->rsp == task->regs.rsp - 8 && next > task->regs.rip && next <= task->regs.rip + 15)
		shadow_push(&task->shadow,
			    (struct shadow_entry){ .slot = now->rsp,
						   .address = next,
						   .area = tracee_area(task->space, now->rsp) });
}

static void after_system_call(struct oracle *oracle, struct task *task,
			      const struct user_regs_struct *now)
{
	switch (task->regs.rax) {
	case SYS_rt_sigreturn:
		if (!shadow_sigreturn(&task->shadow))
			fprintf(stderr, "shadow: sigreturn without a signal\n");
		return;
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
		tracee_read_areas(task->space);
		walker_update(oracle->walker, task->space->pid);
		return;
	case SYS_rt_sigaction:
		if (task->regs.rdi == SIGUSR1 && now->rax == 0)
			oracle->takes_signals = true;
		return;
	}
}

/* Applies the instruction at task->regs to the true stack. */
static void follow(struct oracle *oracle, struct task *task, const struct user_regs_struct *now)
{
	const struct shadow_entry *top = shadow_top(&task->shadow);

	if (task->signal && entered_handler(task, now)) {
		settle_pending(oracle, task);
		task->signal = 0;
		return;
	}
	task->signal = 0;
	switch (task->instruction) {
	case INSTRUCTION_CALL:
		settle_pending(oracle, task);
		after_call(task, now);
		return;
	case INSTRUCTION_RETURN:
		if (!shadow_return(&task->shadow, task->regs.rsp, now->rip))
			moved(oracle, task, now);
		else
			settle_pending(oracle, task);
		return;
	case INSTRUCTION_JUMP:
		if (top &&
		    (now->rsp > top->slot || tracee_area(task->space, now->rsp) != top->area))
			moved(oracle, task, now);
		return;
	case INSTRUCTION_SYSTEM_CALL:
		after_system_call(oracle, task, now);
		return;
	case INSTRUCTION_OTHER:
		return;
	}
}

static void trace(struct oracle *oracle, struct task *task)
{
	char name[256];

	printf("%d", task->tid);
	for (size_t i = 0; i <= task->shadow.list.n; i++) {
		walker_name(oracle->walker, task->space->pid,
			    true_frame(task, i) & WIRE_FRAME_ADDRESS, name, sizeof(name));
		printf("%s%s", i ? " < " : " ", name);
	}
	printf("\n");
}

static bool in_handler(const struct task *task)
{
	for (size_t i = task->shadow.list.n; i-- > 0;)
		if (task->shadow.list.entries[i].interrupted)
			return true;
	return false;
}

/* The task has stopped before an instruction; `signal` is to be delivered. */
static void stopped(struct oracle *oracle, struct task *task, int signal)
{
	struct user_regs_struct now;
	bool injected = false;

	if (ptrace(PTRACE_GETREGS, task->tid, 0, &now))
		return;
	tracee_ran(task->space);
	if (task->started)
		follow(oracle, task, &now);
	else if (task->parent_sp && now.rsp != task->parent_sp)
		shadow_reset(&task->shadow); /* clone() gave it a stack of its own */
	task->started = true;
	task->regs = now;
	task->instruction = tracee_instruction(task->space, now.rip);
	if (oracle->trace)
		trace(oracle, task);
	check(oracle, task);
	if (oracle->signal_every && oracle->takes_signals && !in_handler(task) &&
	    now.rip >= oracle->own_start && now.rip < oracle->own_end && !signal &&
	    ++oracle->own_steps % oracle->signal_every == 0) {
		signal = SIGUSR1;
		injected = true;
	}
	oracle->totals.injected += injected;
	task->signal = signal;
	ptrace(PTRACE_SINGLESTEP, task->tid, 0, signal);
}

/* ---- tasks that come and go ---- */

static void adopt(struct oracle *oracle, struct task *parent, pid_t tid, bool thread)
{
	struct task *task = task_of(oracle, tid);

	if (!task)
		task = task_add(oracle, tid);
	if (thread) {
		task->space = parent->space;
	} else {
		shadow_copy(&task->shadow, &parent->shadow);
		task->parent_sp = parent->regs.rsp;
		task->space = tracee_new(tid);
		walker_update(oracle->walker, tid);
	}
}

static void count_up(struct shadow_counts *to, const struct shadow_counts *from)
{
	to->calls += from->calls;
	to->returns += from->returns;
	to->signals += from->signals;
	to->resumed += from->resumed;
	to->dropped += from->dropped;
	to->fresh += from->fresh;
}

static void ended(struct oracle *oracle, struct task *task)
{
	settle_pending(oracle, task);
	count_up(&oracle->gone, &task->shadow.counts);
	shadow_free(&task->shadow);
	task->gone = true;
}

static void on_event(struct oracle *oracle, struct task *task, int event)
{
	unsigned long message = 0;

	ptrace(PTRACE_GETEVENTMSG, task->tid, 0, &message);
	switch (event) {
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		adopt(oracle, task, (pid_t)message, event == PTRACE_EVENT_CLONE);
		break;
	case PTRACE_EVENT_EXEC:
		/* The new program is not under test. */
		ptrace(PTRACE_DETACH, task->tid, 0, 0);
		ended(oracle, task);
		return;
	}
	ptrace(PTRACE_SINGLESTEP, task->tid, 0, 0);
}

static void on_stop(struct oracle *oracle, pid_t tid, int status)
{
	struct task *task = task_of(oracle, tid);
	int signal = WSTOPSIG(status);

	if (!task || !task->space) {
		/* A new task may stop before its parent's event; it waits. */
		if (!task)
			task_add(oracle, tid);
		return;
	}
	if (status >> 16) {
		on_event(oracle, task, status >> 16);
		return;
	}
	if (!task->started)
		signal = 0; /* the SIGSTOP with which new tasks begin */
	stopped(oracle, task, signal == SIGTRAP ? 0 : signal);
}

/* New tasks whose first stop came before their parent's event. */
static void start_waiting(struct oracle *oracle, bool *waiting, pid_t tid)
{
	struct task *task = task_of(oracle, tid);

	if (task && task->space && waiting[task - oracle->tasks] && !task->started) {
		waiting[task - oracle->tasks] = false;
		stopped(oracle, task, 0);
	}
}

static void run(struct oracle *oracle)
{
	bool waiting[MAX_TASKS] = {};
	int status;
	pid_t tid;

	while (oracle->totals.instructions < oracle->limit) {
		tid = waitpid(-1, &status, __WALL);
		if (tid < 0)
			return;
		if (WIFSTOPPED(status)) {
			struct task *task;

			on_stop(oracle, tid, status);
			task = task_of(oracle, tid);
			if (task && !task->space)
				waiting[task - oracle->tasks] = true;
			for (size_t i = 0; i < oracle->n_tasks; i++)
				if (waiting[i])
					start_waiting(oracle, waiting, oracle->tasks[i].tid);
		} else {
			struct task *task = task_of(oracle, tid);

			if (task)
				ended(oracle, task);
			if (tid == oracle->program && (!WIFEXITED(status) || WEXITSTATUS(status))) {
				fprintf(stderr, "  the program ended with status %#x\n", status);
				oracle->totals.wrong++;
			}
		}
	}
	fprintf(stderr, "  stopped at the limit of %lu instructions\n", oracle->limit);
	for (size_t i = 0; i < oracle->n_tasks; i++)
		if (!oracle->tasks[i].gone) {
			kill(oracle->tasks[i].tid, SIGKILL);
			ended(oracle, &oracle->tasks[i]);
		}
}

static void start(struct oracle *oracle, char *const argv[])
{
	struct task *task;
	uint64_t entry;

	oracle->program = tracee_start(argv);
	ptrace(PTRACE_SETOPTIONS, oracle->program, 0,
	       PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACEEXEC);
	entry = tracee_auxv(oracle->program, AT_ENTRY);
	if (!oracle->from_start && !tracee_run_to(oracle->program, entry)) {
		fprintf(stderr, "shadow: %s does not come to its entry point\n", argv[0]);
		exit(2);
	}
	task = task_add(oracle, oracle->program);
	task->space = tracee_new(oracle->program);
	walker_update(oracle->walker, oracle->program);
	for (size_t i = 0; i < task->space->n_areas; i++) {
		const struct area *area = &task->space->areas[i];

		if (entry >= area->start && entry < area->end) {
			oracle->own_start = area->start;
			oracle->own_end = area->end;
		}
	}
	stopped(oracle, task, 0);
}

static int print_result(struct oracle *oracle)
{
	const struct totals *t = &oracle->totals;

	known_print(oracle->known, stdout);
	printf("instructions=%lu frames=%lu deepest=%lu wrong=%lu short=%lu known=%lu ahead=%lu "
	       "assumed=%lu calls=%lu returns=%lu signals=%lu injected=%lu resumed=%lu dropped=%lu "
	       "fresh=%lu\n",
	       t->instructions, t->frames, t->deepest, t->wrong, t->incomplete, t->known, t->ahead,
	       t->assumed, oracle->gone.calls, oracle->gone.returns, oracle->gone.signals,
	       t->injected, oracle->gone.resumed, oracle->gone.dropped, oracle->gone.fresh);
	return t->wrong || t->incomplete || !t->instructions;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "limit", 1, NULL, 'l' },  { "from-start", 0, NULL, 'f' },
		{ "signal", 1, NULL, 's' }, { "known", 1, NULL, 'k' },
		{ "show", 1, NULL, 'n' },   { "trace", 0, NULL, 't' },
		{ "spoil", 1, NULL, 'x' },  {}
	};
	static struct oracle oracle = { .limit = 3000000, .show = 5 };
	const char *known = NULL, *spoil = NULL;
	int option, status;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (option) {
		case 'l':
			oracle.limit = strtoul(optarg, NULL, 10);
			break;
		case 'f':
			oracle.from_start = true;
			break;
		case 's':
			oracle.signal_every = strtoul(optarg, NULL, 10);
			break;
		case 'k':
			known = optarg;
			break;
		case 'n':
			oracle.show = strtoul(optarg, NULL, 10);
			break;
		case 't':
			oracle.trace = true;
			break;
		case 'x':
			spoil = optarg;
			break;
		default:
			return 2;
		}
	}
	if (optind == argc) {
		fprintf(stderr, "shadow: no program\n");
		return 2;
	}
	oracle.known = known_read(known);
	oracle.walker = walker_new(spoil);
	start(&oracle, argv + optind);
	run(&oracle);
	status = print_result(&oracle);
	walker_free(oracle.walker);
	known_free(oracle.known);
	return status;
}
