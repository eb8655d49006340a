// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel functions: by one kprobe.multi link where the kernel has it, else by a kprobe for each. On
 * kernels without kprobes by fentry, whose program serves only one function.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "trigger/attach.h"
#include "trigger/call_values.h"
#include "trigger/entry.h"
#include "trigger/kernel_functions.h"
#include "trigger/kinds.h"
#include "trigger/listing.h"
#include "trigger/matcher.h"
#include "trigger/nearest.h"
#include "trigger/probes.h"

enum kprobe_how { KPROBE_MULTI, KPROBE_SINGLE, KPROBE_FENTRY };

struct kprobes {
	struct probes probes; /* first */
	struct kernel_functions functions;
	enum kprobe_how how;  /* from select() on */
	uint64_t *addresses;  /* NULL where the kernel hides them */
	const char **symbols; /* names of the functions: the kernel takes arrays */
	int program;
	struct value_list arguments, returned; /* empty until they are asked for */
};

/* How calls are timed, by any of these but fentry. */
#define CALL_ENTRY  "on_kernel_call"
#define CALL_RETURN "on_kernel_return"

static const char *const ENTRIES[] = {
	[KPROBE_MULTI] = "on_kprobe_multi",
	[KPROBE_SINGLE] = "on_kprobe",
	[KPROBE_FENTRY] = "on_fentry",
};

static void kprobes_free(struct kprobes *kprobes)
{
	if (!kprobes)
		return;
	probes_clear(&kprobes->probes);
	kernel_functions_clear(&kprobes->functions);
	free(kprobes->addresses);
	free(kprobes->symbols);
	value_list_clear(&kprobes->arguments);
	value_list_clear(&kprobes->returned);
	free(kprobes);
}

DEFINE_OWN(struct kprobes, kprobes_free)

static void free_trigger(struct trigger *trigger)
{
	kprobes_free((struct kprobes *)trigger);
}

static const char *entry_of(const struct kprobes *kprobes)
{
	return kprobes->probes.trigger.scope.calls ? CALL_ENTRY : ENTRIES[kprobes->how];
}

/* Of calls: one program serves all ways to attach. */
static int select_calls(const struct kprobes *kprobes, struct bpf_object *object, const char *name,
			struct error *err)
{
	struct bpf_program *program;
	int r;

	if (!entry_has(object, name))
		return 0;
	r = entry_select(&kprobes->probes.trigger.scope, object, name, &program, err);
	if (r == 0 && kprobes->how == KPROBE_MULTI)
		bpf_program__set_expected_attach_type(program, BPF_TRACE_KPROBE_MULTI);
	return r;
}

static int select_fentry(const struct kprobes *kprobes, struct bpf_program *program,
			 struct error *err)
{
	const char *name = kprobes->functions.items[0].name;
	int r;

	if (kprobes->functions.n > 1)
		return error_privilege(err, -EOPNOTSUPP,
				       "this kernel has no kprobes (CONFIG_KPROBES), and without "
				       "them one function at a time can be traced: %u match",
				       kprobes->functions.n);
	r = bpf_program__set_attach_target(program, 0, name);
	if (r < 0)
		return error_privilege(err, r,
				       "this kernel has no kprobes (CONFIG_KPROBES), and its BTF "
				       "does not know %.200s for fentry: %s",
				       name, strerror(-r));
	return 0;
}

static int select_programs(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct kprobes *kprobes = (struct kprobes *)trigger;
	uint32_t n = kprobes->functions.n;
	struct bpf_program *program;
	int r;

	if (have_kprobe_multi(kprobes->addresses, kprobes->symbols, n))
		kprobes->how = KPROBE_MULTI;
	else
		kprobes->how = have_kprobe() ? KPROBE_SINGLE : KPROBE_FENTRY;
	r = probes_check_limit(n, kprobes->how == KPROBE_MULTI, err);
	if (r < 0)
		return r;
	if (trigger->scope.calls && kprobes->how == KPROBE_FENTRY)
		return error_privilege(err, -EOPNOTSUPP,
				       "this kernel has no kprobes (CONFIG_KPROBES), which returns "
				       "of kernel functions take");
	if (trigger->scope.calls) {
		r = select_calls(kprobes, object, CALL_ENTRY, err);
		return r < 0 ? r : select_calls(kprobes, object, CALL_RETURN, err);
	}
	r = entry_select(&trigger->scope, object, ENTRIES[kprobes->how], &program, err);
	if (r < 0)
		return r;
	return kprobes->how == KPROBE_FENTRY ? select_fentry(kprobes, program, err) : 0;
}

static int attach_at(const struct kprobes *kprobes, enum attach_point point, uint32_t from,
		     uint32_t n)
{
	const uint64_t *addresses = kprobes->addresses;

	switch (kprobes->how) {
	case KPROBE_MULTI:
		return attach_kprobe_multi(kprobes->program, point,
					   addresses ? addresses + from : NULL,
					   kprobes->symbols + from, n);
	case KPROBE_FENTRY:
		return attach_fentry(kprobes->program);
	default:
		return attach_kprobe(kprobes->program, point, kprobes->symbols[from],
				     addresses ? addresses[from] : 0);
	}
}

static int attach_entries(const void *context, uint32_t from, uint32_t n)
{
	return attach_at(context, ATTACH_ENTRY, from, n);
}

static int attach_returns(const void *context, uint32_t from, uint32_t n)
{
	return attach_at(context, ATTACH_RETURN, from, n);
}

static const char *function_name(const void *context, uint32_t i)
{
	return ((const struct kprobes *)context)->symbols[i];
}

/*
 * Returns before entries. Of probes at one instruction, the kernel runs the last one first, and
 * that of a return puts its trampoline in the place of the return address, from which kernels
 * before 5.15 cannot walk on: so the entry's sees the caller's own.
 */
static int attach(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct kprobes *kprobes = (struct kprobes *)trigger;
	struct probes_source source = { .n = kprobes->functions.n,
					.at_once = kprobes->how == KPROBE_MULTI,
					.name = function_name,
					.context = kprobes };
	int r;

	if (trigger->scope.calls) {
		kprobes->program = entry_fd(object, CALL_RETURN, err);
		if (kprobes->program < 0)
			return kprobes->program;
		source.attach = attach_returns;
		r = probes_attach_more(&kprobes->probes, &source, err);
		if (r < 0)
			return r;
	}
	kprobes->program = entry_fd(object, entry_of(kprobes), err);
	if (kprobes->program < 0)
		return kprobes->program;
	source.attach = attach_entries;
	return probes_attach(&kprobes->probes, &source, err);
}

/* Functions whose types are looked up: of more, they would hardly agree. */
#define TYPED_MAX 16

/* The parameters that all functions have in the same place have names. */
static int add_arguments(const struct kprobes *kprobes, struct value_list *list)
{
	enum call_context context = kprobes->how == KPROBE_FENTRY ? CALL_ARRAY : CALL_REGISTERS;
	uint32_t n = kprobes->functions.n <= TYPED_MAX ? kprobes->functions.n : 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++) {
		own(value_list_clear) struct value_list others = { 0 };

		r = call_values_add_named(i ? &others : list, context, kprobes->symbols[i]);
		if (i)
			value_list_keep_common(list, &others);
	}
	return r < 0 ? r : call_values_add(list, context, EVENT_TEXT_KERNEL);
}

/* Of several functions, the result is a number of 64 bits. */
static int add_result(const struct kprobes *kprobes, struct value_list *list)
{
	const char *function = kprobes->functions.n == 1 ? kprobes->symbols[0] : NULL;

	return call_values_add_result(list, function, EVENT_TEXT_KERNEL);
}

static int values(struct trigger *trigger, bool of_returns, struct event_values *ret_values,
		  struct error *err)
{
	struct kprobes *kprobes = (struct kprobes *)trigger;
	struct value_list *list = of_returns ? &kprobes->returned : &kprobes->arguments;
	int r = 0;

	if (!list->n)
		r = of_returns ? add_result(kprobes, list) : add_arguments(kprobes, list);
	if (r < 0)
		return error_set(err, r, "out of memory");
	*ret_values = value_list_values(list);
	return 0;
}

/* ftrace's hook calls the program; where there is none, the kernel sets a breakpoint. */
static int list(const struct trigger *trigger, const struct listing *listing, struct error *err)
{
	const struct kprobes *kprobes = (const struct kprobes *)trigger;

	(void)err;
	for (uint32_t i = 0; i < kprobes->functions.n; i++) {
		const struct kernel_function *function = &kprobes->functions.items[i];

		listing->probe(listing->to,
			       &(struct listed){ function->name,
						 function->module ? function->module : "kernel",
						 kprobes->functions.hooked ? PROBE_COST_LOW
									   : PROBE_COST_MEDIUM });
	}
	return 0;
}

static const struct trigger_ops KPROBE_OPS = {
	.select = select_programs,
	.attach = attach,
	.stop_begin = entry_stop_begin,
	.stop = entry_stop,
	.free = free_trigger,
	.n_attached = probes_n_attached,
	.values = values,
	.list = list,
};

static const char *why_untraceable(enum kernel_untraceable why)
{
	switch (why) {
	case KERNEL_NOTRACE:
		return ", though kallsyms has it: it is marked notrace or built without ftrace's "
		       "hook";
	case KERNEL_BLACKLISTED:
		return ", though kallsyms has it: it is on the kernel's blacklist of what must not "
		       "be probed";
	case KERNEL_INIT:
		return ", though kallsyms has it: it is init code, which is gone after boot";
	case KERNEL_IRQENTRY:
		return ", though kallsyms has it: it is entry code of interrupts";
	case KERNEL_TRACER:
		return ", though kallsyms has it: it is the cold part of a function, or part of "
		       "tracing";
	case KERNEL_ABSENT:
		break;
	}
	return ": it does not exist or was inlined";
}

static int no_match(const struct spec *spec, bool exact, enum kernel_untraceable why,
		    const struct nearest *nearest, struct error *err)
{
	char pattern[300], near[400];

	matcher_describe(spec->name, spec->regexp, pattern, sizeof(pattern));
	nearest_describe(nearest, near, sizeof(near));
	return error_set(err, -ENOENT, "No functions matched by pattern %s%s%s", pattern,
			 exact || why != KERNEL_ABSENT ? why_untraceable(why) : "", near);
}

static int fill_arrays(struct kprobes *kprobes)
{
	const struct kernel_functions *functions = &kprobes->functions;

	kprobes->symbols = calloc(functions->n, sizeof(*kprobes->symbols));
	if (!kprobes->symbols)
		return -ENOMEM;
	for (uint32_t i = 0; i < functions->n; i++)
		kprobes->symbols[i] = functions->items[i].name;
	if (!functions->have_addresses)
		return 0;
	kprobes->addresses = calloc(functions->n, sizeof(*kprobes->addresses));
	if (!kprobes->addresses)
		return -ENOMEM;
	for (uint32_t i = 0; i < functions->n; i++)
		kprobes->addresses[i] = functions->items[i].address;
	return 0;
}

static int make(const struct spec *spec, pid_t pid, struct probes **ret_probes, struct error *err)
{
	own(own_matcher_free) struct matcher *matcher = NULL;
	own(own_kprobes_free) struct kprobes *kprobes = NULL;
	bool exact = !spec->regexp && !strpbrk(spec->name, "*?");
	struct nearest nearest;
	int r;

	(void)pid; /* the BPF program filters */
	r = matcher_new(spec->name, spec->regexp, &matcher, err);
	if (r < 0)
		return r;
	kprobes = calloc(1, sizeof(*kprobes));
	if (!kprobes)
		return error_set(err, -ENOMEM, "out of memory");
	kprobes->probes.trigger.ops = &KPROBE_OPS;
	nearest_init(&nearest, spec->regexp ? "" : spec->name);
	r = kernel_functions_find(matcher, exact, &nearest, &kprobes->functions, err);
	if (r < 0)
		return r;
	if (kprobes->functions.n == 0)
		return no_match(spec, exact, kprobes->functions.untraceable, &nearest, err);
	if (fill_arrays(kprobes) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	*ret_probes = &take_ptr(kprobes)->probes;
	return 0;
}

const struct trigger_kind kprobe_kind = {
	.type = 'p',
	.returns = true,
	.form = "functions are p:LIBRARY:FUNCTION or p::FUNCTION",
	.make = make,
};
