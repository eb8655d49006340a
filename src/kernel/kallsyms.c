/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lines.h"
#include "kernel/kernel_aliases.h"

#define MAX_NAME_BYTES (64u << 20)
#define MAX_SYMBOLS    (8u << 20)
#define MAX_MODULES    65535u
#define MODULE_SIZE    64 /* of a module's name in brackets */
/*
 * No symbol follows the last program in a stretch of generated code, nor a file that gives its
 * length; code is JITed into packs of 2 MB, so none is longer.
 */
#define GENERATED_REACH (2u << 20)

/* `name` of symbols that only end others. */
#define NO_NAME 0u
/* The name is that of the next symbol with __pfx_ before: padding that nearly every function has.
 */
#define PADDING	       0x80000000u
#define PADDING_PREFIX "__pfx_"

struct entry {
	uint64_t address;
	uint32_t name; /* offset in names: two bytes of module number, the name, NUL */
} __attribute__((packed));

struct module {
	char name[MODULE_SIZE]; /* with its brackets */
	uint64_t end;		/* 0: not known */
};

struct kallsyms {
	struct entry *entries;
	uint32_t n_entries, room;
	char *names;
	uint32_t names_used, names_room;
	struct module *modules; /* modules[0] is the core kernel */
	uint32_t n_modules;
	bool any_address;
	uint32_t n_lines;
	uint64_t core_start, core_end;
	char last_type; /* of the last entry, while reading */
	bool sorted;
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
	struct module *grown;

	if (size >= MODULE_SIZE)
		size = MODULE_SIZE - 1;
	/* A module's symbols follow one another: the last one made is the likely one. */
	for (uint32_t i = kallsyms->n_modules; i-- > 0;) {
		const char *known = kallsyms->modules[i].name;

		if (strncmp(known, name, size) == 0 && known[size] == '\0') {
			*ret_number = (uint16_t)i;
			return 0;
		}
	}
	if (kallsyms->n_modules == MAX_MODULES)
		return -EFBIG;
	if ((kallsyms->n_modules & (kallsyms->n_modules - 1)) == 0) {
		uint32_t room = kallsyms->n_modules ? kallsyms->n_modules * 2 : 1;

		grown = realloc(kallsyms->modules, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		kallsyms->modules = grown;
	}
	grown = &kallsyms->modules[kallsyms->n_modules];
	memset(grown, 0, sizeof(*grown));
	memcpy(grown->name, name, size);
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

	if (need > kallsyms->names_room - kallsyms->names_used) {
		uint32_t room = kallsyms->names_room + (512u << 10);
		char *grown;

		if (room > MAX_NAME_BYTES)
			return -EFBIG;
		grown = realloc(kallsyms->names, room);
		if (!grown)
			return -ENOMEM;
		kallsyms->names = grown;
		kallsyms->names_room = room;
	}
	*ret_name = kallsyms->names_used;
	memcpy(kallsyms->names + kallsyms->names_used, &module, sizeof(module));
	memcpy(kallsyms->names + kallsyms->names_used + sizeof(module), name, size);
	kallsyms->names[kallsyms->names_used + need - 1] = '\0';
	kallsyms->names_used += (uint32_t)need;
	return 0;
}

/*
 * The name of the entry before is dropped when it is that of the padding before this function,
 * which takes its place: half of all names.
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
	/* One end is enough. */
	if (last && name == NO_NAME && last->name == NO_NAME && address > last->address)
		return 0;
	if (last && name != NO_NAME && address > last->address)
		name = fold_padding(kallsyms, name);
	if (last && address < last->address)
		kallsyms->sorted = false;
	if (kallsyms->n_entries == kallsyms->room) {
		uint32_t room = kallsyms->room + (16u << 10);
		struct entry *grown;

		if (room > MAX_SYMBOLS)
			return -EFBIG;
		grown = realloc(kallsyms->entries, (size_t)room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		kallsyms->entries = grown;
		kallsyms->room = room;
	}
	kallsyms->entries[kallsyms->n_entries++] =
		(struct entry){ .address = address, .name = name };
	kallsyms->last_type = type;
	return 0;
}

/* "ADDRESS TYPE NAME", and for modules "\t[MODULE]". */
static int read_symbol(void *context, char *line, size_t size)
{
	struct kallsyms *kallsyms = context;
	const char *at = line, *end = line + size, *name, *tab;
	uint64_t address;
	uint16_t module = 0;
	uint32_t offset = NO_NAME;
	bool is_end = false;
	char type;
	int r;

	if (!lines_hex(&at, end, &address) || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return 0;
	type = at[1];
	name = at + 3;
	kallsyms->n_lines++;
	kallsyms->any_address |= address != 0;
	/* Offsets of per-CPU data, in older kernels. */
	if (!address || type == 'A' || type == 'a')
		return 0;
	tab = memchr(name, '\t', (size_t)(end - name));
	if (!strchr("tTwW", type))
		return add_entry(kallsyms, address, NO_NAME, type);
	if (tab && end - tab > 3 && tab[1] == '[') {
		r = module_number(kallsyms, tab + 1, (size_t)(end - tab - 1), &module);
		if (r)
			return r;
	}
	size = (size_t)((tab ? tab : end) - name);
	if (!size || !*name)
		return 0;
	if (size >= KALLSYMS_NAME_SIZE)
		size = KALLSYMS_NAME_SIZE - 1;
	r = add_name(kallsyms, name, size, module, &offset);
	if (r)
		return r;
	kernel_name_is_mark(name_at(kallsyms, offset), &is_end);
	if (!module && !kallsyms->core_start)
		kallsyms->core_start = address;
	if (!module && strcmp(name_at(kallsyms, offset), "_etext") == 0)
		kallsyms->core_end = address;
	if (is_end) {
		kallsyms->names_used = offset;
		offset = NO_NAME;
	}
	return add_entry(kallsyms, address, offset, type);
}

/* "NAME SIZE USERS USED_BY STATE 0xADDRESS" */
static int read_module(void *context, char *line, size_t size)
{
	struct kallsyms *kallsyms = context;
	const char *at, *end = line + size, *name_end = memchr(line, ' ', size);
	uint64_t module_size = 0, address;

	if (!name_end || (size_t)(name_end - line) > MODULE_SIZE - 3)
		return 0;
	for (at = name_end + 1; at < end && *at >= '0' && *at <= '9' && module_size < 1u << 30;
	     at++)
		module_size = module_size * 10 + (uint64_t)(*at - '0');
	for (uint32_t field = 0; at < end && field < 4; at++)
		field += *at == ' ';
	if (end - at < 3 || at[0] != '0' || at[1] != 'x')
		return 0;
	at += 2;
	if (!lines_hex(&at, end, &address) || !address)
		return 0;
	for (uint32_t i = 1; i < kallsyms->n_modules; i++) {
		struct module *module = &kallsyms->modules[i];
		size_t length = strlen(module->name);

		if (length == (size_t)(name_end - line) + 2 &&
		    memcmp(module->name + 1, line, length - 2) == 0)
			module->end = address + module_size;
	}
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	uint32_t a_name = a->name & ~PADDING, b_name = b->name & ~PADDING;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/* Ends come first, so that a function at the same address is found. */
	return a_name < b_name ? -1 : a_name > b_name;
}

int kallsyms_read(int kallsyms_fd, int modules_fd, struct kallsyms **ret_kallsyms)
{
	own(own_kallsyms_free) struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
	uint16_t core;
	uint32_t nothing;
	int r;

	if (!kallsyms)
		return -ENOMEM;
	kallsyms->sorted = true;
	r = module_number(kallsyms, KALLSYMS_CORE, strlen(KALLSYMS_CORE), &core);
	if (!r)
		r = add_name(kallsyms, "", 0, core, &nothing); /* so that no name is at NO_NAME */
	if (!r)
		r = lines_read(kallsyms_fd, UINT64_MAX, read_symbol, kallsyms);
	if (r)
		return r;
	if (modules_fd >= 0)
		lines_read(modules_fd, 64u << 20, read_module, kallsyms);
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
	uint32_t low = 0, high = kallsyms->n_entries, name;
	const struct entry *entry;
	const struct module *module;

	/* The first entry above the address, so that of equals the last one is taken. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (kallsyms->entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	entry = &kallsyms->entries[low - 1];
	name = entry->name & ~PADDING;
	if (name == NO_NAME)
		return false;
	module = &kallsyms->modules[module_at(kallsyms, name)];
	if (module->end && entry->address < module->end && address >= module->end)
		return false;
	if (is_generated(module) && address - entry->address >= GENERATED_REACH)
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
