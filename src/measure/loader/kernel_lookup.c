// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/kernel_lookup.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/wire.h"
#include "stacktally.skel.h"

void kernel_lookup_select(struct stacktally *skeleton)
{
	/* bpf_snprintf() is older than bpf_kallsyms_lookup_name(). */
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SYSCALL, NULL) != 1 ||
	    libbpf_probe_bpf_helper(BPF_PROG_TYPE_SYSCALL, BPF_FUNC_kallsyms_lookup_name, NULL) !=
		    1)
		return;
	bpf_program__set_autoload(skeleton->progs.symbol_at, true);
	bpf_program__set_autoload(skeleton->progs.symbol_named, true);
}

/* Runs a program; its result, or a negative errno. */
static int run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int r = bpf_prog_test_run_opts(bpf_program__fd(program), &options);

	return r < 0 ? r : (int)options.retval;
}

static int symbol_at(void *context, uint64_t address, const char **ret_text)
{
	struct stacktally *skeleton = context;
	struct wire_symbol *symbol = &skeleton->bss->kernel_symbol;
	int r;

	symbol->address = address;
	r = run(skeleton->progs.symbol_at);
	if (r < 0)
		return r;
	symbol->text[sizeof(symbol->text) - 1] = '\0';
	*ret_text = symbol->text;
	return 0;
}

static int address_of(void *context, const char *name, uint64_t *ret_address)
{
	struct stacktally *skeleton = context;
	struct wire_symbol *symbol = &skeleton->bss->kernel_symbol;
	int r;

	memset(symbol->text, 0, sizeof(symbol->text));
	strncpy(symbol->text, name, sizeof(symbol->text) - 1);
	r = run(skeleton->progs.symbol_named);
	if (r == 0)
		*ret_address = symbol->address;
	return r;
}

bool kernel_lookup_get(struct stacktally *skeleton, struct kernel_lookup *ret_lookup)
{
	if (bpf_program__fd(skeleton->progs.symbol_at) < 0)
		return false;
	*ret_lookup = (struct kernel_lookup){ .context = skeleton,
					      .symbol_at = symbol_at,
					      .address_of = address_of };
	return true;
}
