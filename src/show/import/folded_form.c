// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/folded_form.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "import/folded_line.h"
#include "tally/tally.h"
#include "view/frame_text.h"

#define LINE_SHOWN 60u /* bytes of a line in an error */

/* Votes of lines. */
struct evidence {
	uint64_t lines, comms, functions;
	uint64_t long_names;	  /* longer than a thread's */
	uint64_t pids, tids;	  /* with ids behind the first piece */
	bool large_pid;		  /* one that is no number of a series of threads */
	uint64_t delimiters;	  /* lines with a `-` */
	uint64_t empty_comms;	  /* lines that begin with a semicolon */
	bool kernel_behind;	  /* a kernel function or a mark follows a `-` */
	uint64_t two_counts, odd; /* lines with two counts; the number of the first with one */
};

/* Functions at which stacks of user code begin, and how far from the root they may be. */
static const struct {
	const char *name;
	int level;
} roots[] = {
	{ "_start", 0 },
	{ "clone", 0 },
	{ "clone3", 0 },
	{ "__clone", 0 },
	{ "__clone3", 0 },
	{ "__clone_internal", 0 },
	{ "_dl_start", 0 },
	{ "_dl_start_user", 0 },
	{ "_dl_relocate_static_pie", 0 },
	{ "thread_start", 1 },
	{ "start_thread", 1 },
	{ "_pthread_start", 1 },
	{ "start", 1 },
	{ "__libc_start_main", 1 },
	{ "__libc_start_main_impl", 1 },
	{ "__libc_start_main_stage2", 1 },
	{ "runtime.goexit", 1 },
	{ "runtime.goexit.abi0", 1 },
	{ "runtime.rt0_go", 1 },
	{ "runtime.rt0_go.abi0", 1 },
	{ "runtime.mstart", 1 },
	{ "runtime.mcall", 1 },
	{ "runtime.systemstack", 1 },
	{ "__libc_start_call_main", 2 },
	{ "generic_start_main", 2 },
	{ "runtime.main", 2 },
	{ "main", 3 },
	{ "<module>", 3 },
	{ "<main>", 3 },
	{ "{main}", 3 },
	{ "(root)", 3 },
	{ "(anonymous)", 3 },
	{ "<clinit>", 3 },
	{ "JavaMain", 3 },
	{ "root", 3 },
	{ "all", 3 },
};

/* Functions at which stacks of the kernel begin; their names may go on. */
static const char *const kernel_roots[] = {
	"entry_SYSCALL",
	"entry_SYSENTER",
	"entry_INT80",
	"do_syscall_64",
	"x64_sys_call",
	"__x64_sys_",
	"__ia32_sys_",
	"asm_exc_",
	"asm_sysvec_",
	"asm_common_interrupt",
	"system_call_",
	"sysenter_",
	"ret_from_",
	"el0",
	"el1",
	"start_secondary",
	"secondary_startup",
	"x86_64_start_",
	"start_kernel",
	"rest_init",
	"cpu_startup_entry",
	"do_idle",
	"cpu_idle",
	"page_fault",
	"async_page_fault",
	"apic_timer_interrupt",
	"reschedule_interrupt",
	"kthread_worker_fn",
	"kernel_thread",
	"__kernel_text_address",
	"tracesys",
	"int_ret_from",
	"stub_execve",
	"common_interrupt",
};

/* Threads of the kernel. */
static const char *const kernel_threads[] = { "swapper", "kworker/", "ksoftirqd/", "migration/" };

/* What only names of functions contain. */
static const char *const of_functions[] = { "::",   "`",   "_[j]", "_[k]", "_[i]", "_[0]",
					    "_[1]", "+0x", " - ",  "()",   "(*",   "$" };

static bool begins_with_any(const struct folded_piece *piece, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (folded_begins(piece, list[i]))
			return true;
	return false;
}

#define BEGINS_WITH_ANY(piece, list) begins_with_any(piece, list, sizeof(list) / sizeof(*(list)))

static bool is_kernel_root(const struct folded_piece *piece)
{
	return folded_is(piece, "kthread") || BEGINS_WITH_ANY(piece, kernel_roots);
}

static int level_of(const struct folded_piece *piece)
{
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (folded_is(piece, roots[i].name))
			return roots[i].level;
	return -1;
}

static bool ends_with(const struct folded_piece *piece, const char *text)
{
	size_t n = strlen(text);

	return piece->size >= n && memcmp(piece->start + piece->size - n, text, n) == 0;
}

/* `(sd-pam)` is a thread, `main (app.py:7)` and `f(int)` are functions. */
static bool reads_as_function(const struct folded_piece *piece)
{
	if (strchr("<[{", piece->start[0]) || folded_begins(piece, "runtime.") ||
	    folded_begins(piece, "main.") || folded_begins(piece, "0x"))
		return true;
	if (piece->start[0] != '(' && memchr(piece->start, '(', piece->size))
		return true;
	for (size_t i = 0; i < sizeof(of_functions) / sizeof(of_functions[0]); i++)
		if (memmem(piece->start, piece->size, of_functions[i], strlen(of_functions[i])))
			return true;
	return false;
}

/* Whether a stack begins with the second piece. */
static bool is_outermost(const struct folded_piece *second)
{
	if (!second->start || second->size == 0)
		return false;
	return level_of(second) >= 0 || is_kernel_root(second) || ends_with(second, "_[k]") ||
	       (second->start[0] == '[' && second->start[second->size - 1] == ']');
}

static void weigh_first(struct evidence *found, struct folded_piece first,
			const struct folded_piece *second)
{
	struct folded_ids ids = { 0 };
	int level = level_of(&first), below = second->start ? level_of(second) : -1;

	if (first.size == 0) {
		found->empty_comms++;
		found->comms++;
		return;
	}
	if (folded_take_ids(&first, &ids)) {
		found->pids++;
		found->tids += ids.has_tid;
		found->large_pid |= ids.pid >= 100;
	}
	if (first.size >= TALLY_COMM_SIZE)
		found->long_names++;
	else if (level >= 0)
		*(below >= 0 && below <= level ? &found->comms : &found->functions) += 1;
	else if (is_kernel_root(&first) || (first.size > 0 && reads_as_function(&first)))
		found->functions++;
	else if (is_outermost(second) || BEGINS_WITH_ANY(&first, kernel_threads))
		found->comms++;
}

static void weigh_stack(struct evidence *found, struct folded_piece stack)
{
	struct folded_piece first = { 0 }, second = { 0 }, piece;
	bool after = false;

	folded_next_piece(&stack, &first);
	while (folded_next_piece(&stack, &piece)) {
		if (!second.start)
			second = piece;
		if (after)
			found->kernel_behind |= is_kernel_root(&piece) ||
						ends_with(&piece, "_[k]") ||
						folded_is(&piece, FRAME_TRUNCATED) ||
						folded_is(&piece, FRAME_MISSED_KERNEL);
		after = folded_is_delimiter(&piece);
		found->delimiters += after;
	}
	weigh_first(found, first, &second);
}

/* A difference has two counts on all lines. A name may end with a number on a few. */
static int check_counts(const struct evidence *found, struct folded_form *form, struct error *err)
{
	form->difference = found->two_counts > 0 && found->two_counts == found->lines;
	if (form->difference || found->two_counts <= found->lines / 2)
		return 0;
	return error_set(err, -EBADMSG, "line %" PRIu64 ": one count, where other lines have two",
			 found->odd);
}

static struct folded_form form_of(const struct evidence *found)
{
	struct folded_form form = {
		.comm = found->long_names == 0 && found->comms > found->functions,
		.delimited = found->kernel_behind || (found->delimiters == found->lines &&
						      found->empty_comms == found->lines),
	};

	if (form.comm && found->pids == found->lines && found->tids == found->lines)
		form.ids = FOLDED_PIDS_AND_TIDS;
	else if (form.comm && found->pids == found->lines && found->large_pid && !found->tids)
		form.ids = FOLDED_PIDS;
	return form;
}

int folded_form_of(const char *text, size_t size, struct folded_form *ret_form, struct error *err)
{
	struct evidence found = { 0 };
	struct folded_piece line, word;
	struct folded_lines lines;
	struct folded_form form;
	uint64_t count;
	int r;

	folded_lines_start(&lines, text, size);
	while (folded_next_line(&lines, &line)) {
		struct folded_piece one_less;

		if (folded_take_number(&line, &word, &count) == FOLDED_NONE) {
			if (found.lines == 0)
				return error_set(err, -ENOEXEC,
						 "line %" PRIu64 ", %.*s, ends with no count",
						 lines.number,
						 (int)(line.size < LINE_SHOWN ? line.size
									      : LINE_SHOWN),
						 line.start);
			break; /* the reader says which line it is */
		}
		found.lines++;
		one_less = line;
		if (folded_take_number(&one_less, &word, &count) != FOLDED_NONE) {
			found.two_counts++;
			line = one_less;
		} else if (!found.odd) {
			found.odd = lines.number;
		}
		weigh_stack(&found, line);
	}
	if (found.lines == 0)
		return error_set(err, -ENOEXEC, "all lines are empty");
	form = form_of(&found);
	r = check_counts(&found, &form, err);
	if (r == 0)
		*ret_form = form;
	return r;
}
