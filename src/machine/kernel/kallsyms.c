// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/partition.h"
#include "kernel/kallsyms_lines.h"
#include "kernel/kernel_alias.h"
#include "kernel/module_lines.h"

#define MAX_NAME_BYTES (64u << 20)
#define MAX_SYMBOLS    (8u << 20)
#define MAX_MODULES    8192u /* more than any kernel has loaded; searched one by one */
#define MODULE_SIZE    64    /* of a module's name in brackets */
/*
 * Nothing tells the length of the last program in generated code. The kernel JITs into packs of
 * 2 MB (BPF_PROG_PACK_SIZE), so no program is longer.
 */
#define GENERATED_MAX_SIZE (2u << 20)

/* The `name` of an entry that only ends the function before it. */
#define NO_NAME 0u
/*
 * A flag in `name`: the entry is the padding before a function, and is named as the function with
 * __pfx_ in front. The names then share one string.
 */
#define PADDING	       0x80000000u
#define PADDING_PREFIX "__pfx_"

struct entry {
	uint64_t address;
	uint32_t name; /* offset in `names`: two bytes of module number, the name, NUL */
} __attribute__((packed));

struct module {
	char name[MODULE_SIZE]; /* with its brackets */
	uint64_t end;		/* 0: not known */
};

struct kallsyms {
	struct entry *entries;
	uint32_t n_entries, capacity;
	char *names;
	uint32_t names_used, names_capacity;
	struct module *modules; /* modules[0] is the core kernel */
	uint32_t n_modules, modules_capacity;
	bool any_address;
	uint32_t n_lines;
	uint64_t core_start, core_end;
	char last_type; /* of the last entry, while reading */
	bool sorted;	/* so far */
};

void kallsyms_free(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	free(kallsyms->entries);
	free(kallsyms->names);
	free(kallsyms->modules);
	free(kallsyms);
}

static int module_number(struct kallsyms *kallsyms, const char *name, size_t size,
			 uint16_t *ret_number)
{
	struct module *module;
	int r;

	if (size >= MODULE_SIZE)
		size = MODULE_SIZE - 1;
	/* A module's symbols follow one another, so the last module is the likely one. */
	for (uint32_t i = kallsyms->n_modules; i-- > 0;) {
		const char *known = kallsyms->modules[i].name;

		if (strncmp(known, name, size) == 0 && known[size] == '\0') {
			*ret_number = (uint16_t)i;
			return 0;
		}
	}
	if (kallsyms->n_modules == MAX_MODULES)
		return -EFBIG;
	r = grow(&kallsyms->modules, &kallsyms->modules_capacity, kallsyms->n_modules + 1);
	if (r < 0)
		return r;
	module = &kallsyms->modules[kallsyms->n_modules];
	memset(module, 0, sizeof(*module));
	memcpy(module->name, name, size);
	*ret_number = (uint16_t)kallsyms->n_modules++;
	return 0;
}

static const char *name_at(const struct kallsyms *kallsyms, uint32_t name)
{
	return kallsyms->names + name + sizeof(uint16_t);
}

static uint16_t module_at(const struct kallsyms *kallsyms, uint32_t name)
{
	uint16_t number;

	memcpy(&number, kallsyms->names + name, sizeof(number));
	return number;
}

static int add_name(struct kallsyms *kallsyms, const char *name, size_t size, uint16_t module,
		    uint32_t *ret_name)
{
	size_t need = sizeof(module) + size + 1;

	/* In steps: after doubling, up to half of the memory would stay unused. */
	if (need > kallsyms->names_capacity - kallsyms->names_used) {
		uint32_t capacity = kallsyms->names_capacity + (512u << 10);
		char *grown;

		if (capacity > MAX_NAME_BYTES)
			return -EFBIG;
		grown = realloc(kallsyms->names, capacity);
		if (!grown)
			return -ENOMEM;
		kallsyms->names = grown;
		kallsyms->names_capacity = capacity;
	}
	*ret_name = kallsyms->names_used;
	memcpy(kallsyms->names + kallsyms->names_used, &module, sizeof(module));
	memcpy(kallsyms->names + kallsyms->names_used + sizeof(module), name, size);
	kallsyms->names[kallsyms->names_used + need - 1] = '\0';
	kallsyms->names_used += (uint32_t)need;
	return 0;
}

/*
 * If the entry before is this function's padding, its name is dropped and this one moves to its
 * place, which saves half of all names. Returns where the name is now.
 */
static uint32_t fold_padding(struct kallsyms *kallsyms, uint32_t name)
{
	const size_t prefix = strlen(PADDING_PREFIX);
	struct entry *padding = &kallsyms->entries[kallsyms->n_entries - 1];
	size_t size;

	if (padding->name == NO_NAME || padding->name & PADDING)
		return name;
	if (padding->name >= name ||
	    module_at(kallsyms, padding->name) != module_at(kallsyms, name))
		return name;
	if (strncmp(name_at(kallsyms, padding->name), PADDING_PREFIX, prefix) != 0 ||
	    strcmp(name_at(kallsyms, padding->name) + prefix, name_at(kallsyms, name)) != 0)
		return name;
	size = kallsyms->names_used - name;
	memmove(kallsyms->names + padding->name, kallsyms->names + name, size);
	name = padding->name;
	kallsyms->names_used = name + (uint32_t)size;
	padding->name |= PADDING;
	return name;
}

static int add_entry(struct kallsyms *kallsyms, uint64_t address, uint32_t name, char type)
{
	struct entry *last =
		kallsyms->n_entries ? &kallsyms->entries[kallsyms->n_entries - 1] : NULL;

	if (last && address == last->address && !(last->name & PADDING)) {
		if (name == NO_NAME)
			return 0;
		if (last->name == NO_NAME ||
		    kernel_alias_is_better(name_at(kallsyms, name), type,
					   name_at(kallsyms, last->name), kallsyms->last_type)) {
			last->name = name;
			kallsyms->last_type = type;
		}
		return 0;
	}
	/* An end after an end adds nothing. */
	if (last && name == NO_NAME && last->name == NO_NAME && address > last->address)
		return 0;
	if (last && name != NO_NAME && address > last->address)
		name = fold_padding(kallsyms, name);
	if (last && address < last->address)
		kallsyms->sorted = false;
	if (kallsyms->n_entries == kallsyms->capacity) {
		uint32_t capacity = kallsyms->capacity + (16u << 10);
		struct entry *grown;

		if (capacity > MAX_SYMBOLS)
			return -EFBIG;
		grown = realloc(kallsyms->entries, (size_t)capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		kallsyms->entries = grown;
		kallsyms->capacity = capacity;
	}
	kallsyms->entries[kallsyms->n_entries++] =
		(struct entry){ .address = address, .name = name };
	kallsyms->last_type = type;
	return 0;
}

static int read_symbol(void *context, const struct kallsyms_line *line)
{
	struct kallsyms *kallsyms = context;
	size_t size = line->name_size;
	uint16_t module = 0;
	uint32_t name = NO_NAME;
	bool is_end = false;
	int r;

	kallsyms->n_lines++;
	kallsyms->any_address |= line->address != 0;
	/* Older kernels list offsets of per-CPU data as absolute symbols. */
	if (!line->address || line->type == 'A' || line->type == 'a')
		return 0;
	if (!kallsyms_lines_is_code(line->type))
		return add_entry(kallsyms, line->address, NO_NAME, line->type);
	if (line->module) {
		r = module_number(kallsyms, line->module, line->module_size, &module);
		if (r < 0)
			return r;
	}
	if (size >= KALLSYMS_NAME_SIZE)
		size = KALLSYMS_NAME_SIZE - 1;
	r = add_name(kallsyms, line->name, size, module, &name);
	if (r < 0)
		return r;
	kernel_alias_is_boundary(name_at(kallsyms, name), &is_end);
	if (!module && !kallsyms->core_start)
		kallsyms->core_start = line->address;
	if (!module && strcmp(name_at(kallsyms, name), "_etext") == 0)
		kallsyms->core_end = line->address;
	if (is_end) {
		kallsyms->names_used = name;
		name = NO_NAME;
	}
	return add_entry(kallsyms, line->address, name, line->type);
}

static int read_module(void *context, const struct module_line *line)
{
	struct kallsyms *kallsyms = context;
	size_t length = strlen(line->name);

	for (uint32_t i = 1; i < kallsyms->n_modules; i++) {
		struct module *module = &kallsyms->modules[i];

		if (strlen(module->name) == length + 2 &&
		    memcmp(module->name + 1, line->name, length) == 0)
			module->end = line->end;
	}
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	uint32_t a_name = a->name & ~PADDING, b_name = b->name & ~PADDING;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/* Ends first: kallsyms_find() takes the last entry of an address. */
	return a_name < b_name ? -1 : a_name > b_name;
}

int kallsyms_read(int kallsyms_fd, int modules_fd, struct kallsyms **ret_kallsyms)
{
	own(own_kallsyms_free) struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
	uint16_t core;
	uint32_t unused;
	int r;

	if (!kallsyms)
		return -ENOMEM;
	kallsyms->sorted = true;
	r = module_number(kallsyms, KALLSYMS_CORE, strlen(KALLSYMS_CORE), &core);
	if (r < 0)
		return r;
	r = add_name(kallsyms, "", 0, core, &unused); /* takes the offset NO_NAME */
	if (r < 0)
		return r;
	r = kallsyms_lines_read(kallsyms_fd, read_symbol, kallsyms);
	if (r < 0)
		return r;
	if (modules_fd >= 0)
		module_lines_read(modules_fd, read_module, kallsyms);
	if (!kallsyms->sorted)
		qsort(kallsyms->entries, kallsyms->n_entries, sizeof(*kallsyms->entries),
		      compare_entries);
	*ret_kallsyms = take_ptr(kallsyms);
	return 0;
}

bool kallsyms_are_hidden(const struct kallsyms *kallsyms)
{
	return kallsyms->n_lines > 0 && !kallsyms->any_address;
}

void kallsyms_core_range(const struct kallsyms *kallsyms, uint64_t *ret_start, uint64_t *ret_end)
{
	bool known = kallsyms->core_end > kallsyms->core_start;

	*ret_start = known ? kallsyms->core_start : 0;
	*ret_end = known ? kallsyms->core_end : 0;
}

static bool is_generated(const struct module *module)
{
	return strcmp(module->name, KALLSYMS_PROGRAM) == 0 ||
	       strncmp(module->name, "[__builtin__", strlen("[__builtin__")) == 0;
}

bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
		   struct kernel_symbol *ret_symbol)
{
	size_t above =
		partition_point(i, kallsyms->n_entries, kallsyms->entries[i].address <= address);
	const struct entry *entry;
	const struct module *module;
	uint32_t name;

	if (!above)
		return false;
	entry = &kallsyms->entries[above - 1];
	name = entry->name & ~PADDING;
	if (name == NO_NAME)
		return false;
	module = &kallsyms->modules[module_at(kallsyms, name)];
	if (module->end && entry->address < module->end && address >= module->end)
		return false;
	if (is_generated(module) && address - entry->address >= GENERATED_MAX_SIZE)
		return false;
	ret_symbol->start = entry->address;
	ret_symbol->module = module->name;
	ret_symbol->name[0] = '\0';
	if (entry->name & PADDING)
		strcpy(ret_symbol->name, PADDING_PREFIX);
	strncat(ret_symbol->name, name_at(kallsyms, name),
		KALLSYMS_NAME_SIZE - 1 - strlen(ret_symbol->name));
	return true;
}
