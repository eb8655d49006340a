// SPDX-License-Identifier: GPL-2.0-or-later
/* Lookups by the kernel: the same names as in /proc/kallsyms, and texts of any form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/wire.h"
#include "kernel/kallsyms.h"
#include "loader/kernel_lookup.h"
#include "stacktally.skel.h"

#define EACH	      16 /* one of 16 addresses is looked up */
#define MAX_FUNCTIONS 64 /* of BPF programs of this process */

/* A kernel that answers every address with `text` and knows one more symbol. */
struct script {
	const char *text;
	const char *known;
	uint64_t known_at;
	bool hides_addresses;
};

static int symbol_at(void *context, uint64_t address, const char **ret_text)
{
	const struct script *script = context;

	(void)address;
	*ret_text = script->text;
	return script->text ? 0 : -EFAULT;
}

static int address_of(void *context, const char *name, uint64_t *ret_address)
{
	const struct script *script = context;

	if (script->hides_addresses)
		return -EPERM;
	*ret_address = strcmp(name, "_text") == 0    ? 0x1000
		       : strcmp(name, "_etext") == 0 ? 0x9000
						     : script->known_at;
	return name[0] == '_' && strstr(name, "text")		   ? 0
	       : script->known && strcmp(name, script->known) == 0 ? 0
								   : -ENOENT;
}

static bool find(struct script *script, uint64_t address, struct kernel_symbol *ret_symbol)
{
	const struct kernel_lookup lookup = { script, symbol_at, address_of };
	static char module[64];
	struct kernel_symbols *asked;
	bool found;

	assert_int_equal(kernel_symbols_new(&lookup, &asked), 0);
	found = kernel_symbols_find(asked, address, ret_symbol);
	if (found) {
		snprintf(module, sizeof(module), "%s", ret_symbol->module);
		ret_symbol->module = module;
	}
	kernel_symbols_free(asked);
	return found;
}

static void reads_answers(void **state)
{
	struct kernel_symbol symbol;

	(void)state;
	assert_true(find(&(struct script){ .text = "do_it+0x10/0x20" }, 0x2010, &symbol));
	assert_string_equal(symbol.name, "do_it");
	assert_string_equal(symbol.module, "[kernel]");
	assert_int_equal(symbol.start, 0x2000);
	assert_true(find(&(struct script){ .text = "fs_read+0x1/0x2 [ext4]" }, 0xf001, &symbol));
	assert_string_equal(symbol.module, "[ext4]");
	assert_int_equal(symbol.start, 0xf000);
	assert_true(find(&(struct script){ .text = "bpf_prog_1+0x1/0x2" }, 0xf001, &symbol));
	assert_string_equal(symbol.module, "[bpf]");
	assert_false(find(&(struct script){ .text = "data+0x1/0x2" }, 0xf001, &symbol));
}

static void names_code_where_addresses_are_hidden(void **state)
{
	static const struct {
		const char *text, *module;
	} answers[] = {
		{ "do_it+0x10/0x20", "[kernel]" },
		{ "fs_read+0x1/0x2 [ext4]", "[ext4]" },
		{ "bpf_prog_6deef7357e7b4530_probe+0x1/0x2", "[bpf]" },
		{ "bpf_prog_6deef7357e7b4530+0x1/0x2", "[bpf]" },
		{ "bpf_trampoline_6442490988+0x1/0x2", "[bpf]" },
		/* Functions of the kernel. */
		{ "bpf_prog_run+0x1/0x2", "[kernel]" },
		{ "bpf_prog_add+0x1/0x2", "[kernel]" },
		{ "bpf_trampoline_link_prog+0x1/0x2", "[kernel]" },
	};
	struct script script = { .hides_addresses = true };
	const struct kernel_lookup lookup = { &script, symbol_at, address_of };
	struct kernel_symbols *asked;
	struct kernel_symbol symbol;
	uint64_t start, end;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		script.text = answers[i].text;
		assert_true(find(&script, 0xf001, &symbol));
		assert_string_equal(symbol.module, answers[i].module);
	}
	script.text = "_stext+0x1/0x2";
	assert_false(find(&script, 0xf001, &symbol));
	assert_int_equal(kernel_symbols_new(&lookup, &asked), 0);
	kernel_symbols_core_range(asked, &start, &end);
	assert_int_equal(start, 0);
	assert_int_equal(end, 0);
	kernel_symbols_free(asked);
}

static void refuses_answers_of_another_form(void **state)
{
	static const char *const texts[] = {
		"",
		"0xffffffff81000000",
		"+0x1/0x2",
		"name",
		"name+",
		"name+0x",
		"name+0x1",
		"name+0x1/",
		"name+0x1/0x",
		"name+0x3/0x2",
		"name+0x2/0x2",
		"name+1/2",
		"_stext+0x1/0x2",
		"__sched_text_end+0x1/0x2",
		NULL,
	};
	struct kernel_symbol symbol;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(find(&(struct script){ .text = texts[i] }, 0x2001, &symbol));
}

static void takes_the_better_known_name(void **state)
{
	struct script script = { .text = "__pi_memcpy+0x10/0x20",
				 .known = "memcpy",
				 .known_at = 0x2000 };
	struct kernel_symbol symbol;

	(void)state;
	assert_true(find(&script, 0x2010, &symbol));
	assert_string_equal(symbol.name, "memcpy");
	script.known_at = 0x3000; /* another function */
	assert_true(find(&script, 0x2010, &symbol));
	assert_string_equal(symbol.name, "__pi_memcpy");
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/*
 * The functions of this process's BPF programs. Those of other processes may be gone since the list
 * was read, and others may have their addresses.
 */
struct own_functions {
	uint64_t addresses[MAX_FUNCTIONS];
	uint32_t n;
};

static void find_own(const struct stacktally *skeleton, struct own_functions *own)
{
	struct bpf_program *program;

	own->n = 0;
	bpf_object__for_each_program(program, skeleton->obj)
	{
		struct bpf_prog_info info = {
			.jited_ksyms = (uint64_t)(uintptr_t)(own->addresses + own->n),
			.nr_jited_ksyms = MAX_FUNCTIONS - own->n,
		};
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) < 0)
			continue;
		assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
		own->n += info.nr_jited_ksyms;
		assert_true(own->n <= MAX_FUNCTIONS);
	}
}

static bool is_own(const struct own_functions *own, uint64_t address)
{
	for (uint32_t i = 0; i < own->n; i++)
		if (own->addresses[i] == address)
			return true;
	return false;
}

/* Compares lookups in the running kernel with /proc/kallsyms, for addresses listed there. */
static void compare(struct kallsyms *list, struct kernel_symbols *asked,
		    const struct own_functions *own)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	uint32_t n = 0, n_asked = 0, n_programs = 0;
	uint64_t address, start, end;
	char line[1024];

	assert_non_null(file);
	kernel_symbols_core_range(asked, &start, &end);
	for (uint32_t i = 0; fgets(line, sizeof(line), file); i++) {
		struct kernel_symbol symbol, told;

		bool program = strstr(line, "\t[bpf]") != NULL;

		if ((i % EACH && !program) || sscanf(line, "%lx", &address) != 1 ||
		    (program ? !is_own(own, address) : address < start || address >= end) ||
		    !kallsyms_find(list, address, &symbol))
			continue;
		n++;
		n_programs += program;
		if (!kernel_symbols_find(asked, address, &told)) {
			assert_false(program);
			continue;
		}
		n_asked++;
		assert_string_equal(told.name, symbol.name);
		assert_string_equal(told.module, symbol.module);
		assert_int_equal(told.start, symbol.start);
	}
	fclose(file);
	assert_true(n > 1000 && n_asked > n * 99 / 100);
	/* The BPF programs of the lookup are in the list themselves. */
	assert_true(n_programs >= 2);
}

static void agrees_with_kallsyms(void **state)
{
	int symbols = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	struct kallsyms *list = NULL;
	struct kernel_symbols *asked;
	struct stacktally *skeleton;
	struct kernel_lookup lookup;
	struct own_functions own;

	(void)state;
	libbpf_set_print(quiet);
	skeleton = stacktally__open();
	assert_non_null(skeleton);
	kernel_lookup_select(skeleton);
	if (!bpf_program__autoload(skeleton->progs.symbol_at) || stacktally__load(skeleton) < 0) {
		stacktally__destroy(skeleton);
		skip(); /* not allowed, or an older kernel */
	}
	assert_true(kernel_lookup_get(skeleton, &lookup));
	find_own(skeleton, &own);
	assert_int_equal(kallsyms_read(symbols, -1, &list), 0);
	assert_int_equal(kernel_symbols_new(&lookup, &asked), 0);
	if (!kallsyms_are_hidden(list))
		compare(list, asked, &own);
	kernel_symbols_free(asked);
	kallsyms_free(list);
	stacktally__destroy(skeleton);
	close(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_answers),
		cmocka_unit_test(names_code_where_addresses_are_hidden),
		cmocka_unit_test(refuses_answers_of_another_form),
		cmocka_unit_test(takes_the_better_known_name),
		cmocka_unit_test(agrees_with_kallsyms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
