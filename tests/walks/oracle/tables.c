// SPDX-License-Identifier: GPL-2.0-or-later
#include "tables.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cfi/rule_table.h"
#include "cfi/unwind_rows.h"

#define MAX_PROCESSES 64
#define MAX_LOADS     16
#define VDSO_SIZE_MAX (64 << 10)

struct load {
	uint64_t offset, address, size;
};

struct file {
	dev_t device;
	ino_t inode; /* the vDSO: 0 */
	uint32_t root, kind, owner;
	struct load loads[MAX_LOADS];
	size_t n_loads;
};

struct tables {
	struct rule_table *rule_table;
	void **blocks;
	uint32_t n_blocks;
	struct file *files;
	size_t n_files;
	struct {
		uint32_t tgid;
		struct wire_process process;
	} processes[MAX_PROCESSES];
	size_t n_processes;
	uint32_t owners;
	struct native_tables native;
	const char *spoilt;	 /* the kind of rules to make wrong, or NULL */
	struct wire_rule *wrong; /* copies of the rules, those of that kind spoilt */
	uint32_t n_wrong;
};

static void *must(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static const void *block_of(const void *data, uint32_t block)
{
	const struct tables *tables = data;

	return block && block < tables->n_blocks ? tables->blocks[block] : NULL;
}

static void spoil(struct wire_rule *rule, const char *kind)
{
	enum wire_ra ra = WIRE_RULE_RA(rule);

	if (!strcmp(kind, "cfa") && rule->cfa == WIRE_CFA_SP && rule->cfa_offset == 48)
		rule->cfa_offset += 8;
	else if (!strcmp(kind, "chain") && rule->cfa == WIRE_CFA_FP)
		rule->cfa_offset += 8;
	else if (!strcmp(kind, "plt") && rule->cfa == WIRE_CFA_PLT)
		rule->cfa_offset = 6; /* as if the stub had pushed */
	else if (!strcmp(kind, "memory") &&
		 (rule->cfa == WIRE_CFA_FP_DEREF || rule->cfa == WIRE_CFA_SP_DEREF))
		rule->cfa_offset += 8;
	else if (!strcmp(kind, "fp") && rule->fp == WIRE_FP_CFA)
		rule->fp_offset -= 8;
	else if (!strcmp(kind, "frame") && rule->fp == WIRE_FP_FP)
		rule->fp_offset -= 8;
	else if (!strcmp(kind, "kept") && rule->ra & WIRE_RULE_RBX_SAVED)
		rule->ra &= (uint8_t)~WIRE_RULE_RBX_SAVED;
	else if (!strcmp(kind, "clone") && ra == WIRE_RA_CLONE)
		rule->ra = WIRE_RA_CFA;
	else if (!strcmp(kind, "signal") && ra == WIRE_RA_SIGNAL)
		rule->ra = WIRE_RA_CFA;
	else if (!strcmp(kind, "end") && ra == WIRE_RA_CFA && rule->cfa_offset == 32)
		rule->ra = WIRE_RA_END;
}

bool tables_spoil(struct tables *tables, const char *kind)
{
	static const char *const kinds[] = { "cfa",   "chain", "plt",	"memory", "fp",
					     "frame", "kept",  "clone", "signal", "end" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			tables->spoilt = kinds[i];
	return tables->spoilt != NULL;
}

static const struct wire_rule *wrong_rule(struct tables *tables, const struct wire_rule *rules,
					  uint32_t number)
{
	if (!tables->wrong)
		tables->wrong = must(calloc(UINT16_MAX + 1, sizeof(*tables->wrong)));
	while (tables->n_wrong <= number) {
		tables->wrong[tables->n_wrong] = rules[tables->n_wrong];
		spoil(&tables->wrong[tables->n_wrong++], tables->spoilt);
	}
	return &tables->wrong[number];
}

static const struct wire_rule *rule_of(const void *data, uint32_t number)
{
	struct tables *tables = (struct tables *)data;
	const struct wire_rule *rules;
	uint32_t n;

	rules = rule_table_rules(tables->rule_table, &n);
	if (number >= n)
		return NULL;
	return tables->spoilt ? wrong_rule(tables, rules, number) : &rules[number];
}

static const struct wire_process *process_of(const void *data, uint32_t tgid)
{
	const struct tables *tables = data;

	for (size_t i = 0; i < tables->n_processes; i++)
		if (tables->processes[i].tgid == tgid)
			return &tables->processes[i].process;
	return NULL;
}

struct tables *tables_new(void)
{
	struct tables *tables = must(calloc(1, sizeof(*tables)));

	if (rule_table_new(&tables->rule_table))
		abort();
	tables->blocks = must(calloc(1, sizeof(*tables->blocks)));
	tables->n_blocks = 1;
	tables->native = (struct native_tables){
		.block = block_of, .rule = rule_of, .process = process_of, .data = tables
	};
	return tables;
}

void tables_free(struct tables *tables)
{
	if (!tables)
		return;
	for (uint32_t i = 0; i < tables->n_blocks; i++)
		free(tables->blocks[i]);
	free(tables->blocks);
	free(tables->files);
	free(tables->wrong);
	rule_table_free(tables->rule_table);
	free(tables);
}

const struct native_tables *tables_native(const struct tables *tables)
{
	return &tables->native;
}

static void *new_block(struct tables *tables, uint32_t *ret_number)
{
	tables->blocks =
		must(realloc(tables->blocks, (tables->n_blocks + 1) * sizeof(*tables->blocks)));
	tables->blocks[tables->n_blocks] = must(calloc(1, WIRE_BLOCK_SIZE));
	*ret_number = tables->n_blocks;
	return tables->blocks[tables->n_blocks++];
}

/* ---- files ---- */

struct node {
	uint32_t key, block;
};

static size_t write_leaves(struct tables *tables, const struct unwind_rows *rows, uint32_t owner,
			   struct node *nodes)
{
	struct wire_leaf *leaf = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		const struct unwind_row *row = &rows->rows[i];

		if (!leaf || leaf->header.n == WIRE_LEAF_ROWS ||
		    row->address - leaf->header.base > 0xffff) {
			leaf = new_block(tables, &nodes[n].block);
			nodes[n++].key = row->address;
			leaf->header.owner = owner;
			leaf->header.base = row->address;
		}
		wire_leaf_put(leaf, leaf->header.n++, row->address - leaf->header.base, row->rule);
	}
	return n;
}

/* Writes a level of inner blocks above `n` nodes, and replaces the nodes by these. */
static size_t write_inner(struct tables *tables, uint32_t owner, uint16_t level, struct node *nodes,
			  size_t n)
{
	size_t n_above = 0;

	for (size_t i = 0; i < n; n_above++) {
		uint32_t number;
		struct wire_inner *inner = new_block(tables, &number);
		uint32_t key = nodes[i].key;

		inner->header.owner = owner;
		inner->header.level = level;
		for (; i < n && inner->header.n < WIRE_INNER_CHILDREN; i++) {
			inner->keys[inner->header.n] = nodes[i].key;
			inner->children[inner->header.n++] = nodes[i].block;
		}
		nodes[n_above] = (struct node){ key, number };
	}
	return n_above;
}

static void write_table(struct tables *tables, struct file *file, const struct unwind_rows *rows)
{
	struct node *nodes;
	size_t n;

	file->kind = WIRE_MAPPING_NO_CFI;
	if (rows->n == 0)
		return;
	nodes = must(calloc(rows->n, sizeof(*nodes)));
	file->owner = ++tables->owners;
	n = write_leaves(tables, rows, file->owner, nodes);
	for (uint16_t level = 1; n > 1; level++) {
		if (level == WIRE_MAX_LEVELS)
			abort();
		n = write_inner(tables, file->owner, level, nodes, n);
	}
	file->root = nodes[0].block;
	file->kind = WIRE_MAPPING_TABLE;
	free(nodes);
}

static void read_loads(struct file *file, const void *bytes, size_t size)
{
	const Elf64_Ehdr *header = bytes;
	const Elf64_Phdr *segments;

	if (size < sizeof(*header) || header->e_phoff > size ||
	    (size - header->e_phoff) / sizeof(*segments) < header->e_phnum)
		return;
	segments = (const void *)((const char *)bytes + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum && file->n_loads < MAX_LOADS; i++)
		if (segments[i].p_type == PT_LOAD)
			file->loads[file->n_loads++] =
				(struct load){ segments[i].p_offset, segments[i].p_vaddr,
					       segments[i].p_filesz };
}

static struct file *file_new(struct tables *tables, dev_t device, ino_t inode)
{
	struct file *file;

	tables->files = must(realloc(tables->files, (tables->n_files + 1) * sizeof(*file)));
	file = &tables->files[tables->n_files++];
	*file = (struct file){ .device = device, .inode = inode, .kind = WIRE_MAPPING_BROKEN };
	return file;
}

static void compile(struct tables *tables, struct file *file, int fd, const void *bytes,
		    size_t size)
{
	struct unwind_rows rows = {};
	struct error err = {};
	int status;

	status = fd >= 0 ? unwind_rows_compile(fd, tables->rule_table, &rows, &err)
			 : unwind_rows_compile_memory(bytes, size, tables->rule_table, &rows, &err);
	if (status) {
		fprintf(stderr, "tables: %s\n", err.text);
		return;
	}
	write_table(tables, file, &rows);
	unwind_rows_free(&rows);
}

static struct file *file_of(struct tables *tables, const char *path)
{
	char head[4096];
	struct stat st;
	struct file *file;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "tables: cannot open %s\n", path);
		exit(2);
	}
	for (size_t i = 0; i < tables->n_files; i++)
		if (tables->files[i].device == st.st_dev && tables->files[i].inode == st.st_ino) {
			close(fd);
			return &tables->files[i];
		}
	file = file_new(tables, st.st_dev, st.st_ino);
	n = pread(fd, head, sizeof(head), 0);
	if (n > 0)
		read_loads(file, head, (size_t)n);
	compile(tables, file, fd, NULL, 0);
	close(fd);
	return file;
}

static struct file *vdso_of(struct tables *tables, pid_t pid, uint64_t start, uint64_t size)
{
	static char bytes[VDSO_SIZE_MAX];
	struct file *file;
	char path[64];
	int fd;

	for (size_t i = 0; i < tables->n_files; i++)
		if (tables->files[i].inode == 0)
			return &tables->files[i];
	file = file_new(tables, 0, 0);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (size <= sizeof(bytes) && pread(fd, bytes, size, (off_t)start) == (ssize_t)size) {
		read_loads(file, bytes, size);
		compile(tables, file, -1, bytes, size);
	}
	close(fd);
	return file;
}

/* ---- processes ---- */

static void add_mapping(struct tables *tables, struct wire_process *process,
			const struct wire_mapping *mapping)
{
	struct wire_chunk *chunk = &process->chunks[process->n_chunks - 1];
	struct wire_mappings *block;
	struct wire_chunk_head *head;

	if (process->n_chunks == 0 || chunk->n == WIRE_CHUNK_SLOTS - 1) {
		if (process->n_chunks == WIRE_MAX_CHUNKS)
			abort();
		chunk = &process->chunks[process->n_chunks++];
		block = new_block(tables, &chunk->block);
		head = (void *)block;
		head->owner = process->owner;
		chunk->first = mapping->start;
	}
	block = tables->blocks[chunk->block];
	block->slots[++chunk->n] = *mapping;
	head = (void *)block;
	head->n = chunk->n;
}

static bool bias_of(const struct file *file, uint64_t start, uint64_t offset, uint64_t *ret_bias)
{
	for (size_t i = 0; i < file->n_loads; i++) {
		const struct load *load = &file->loads[i];

		if (offset + 4096 > load->offset && offset < load->offset + load->size) {
			*ret_bias = start - (load->address + offset - load->offset);
			return true;
		}
	}
	return false;
}

static void add_line(struct tables *tables, pid_t pid, struct wire_process *process,
		     const char *line)
{
	struct wire_mapping mapping = {};
	char mode[8], path[256] = "", link[320];
	uint64_t offset;
	struct file *file = NULL;

	if (sscanf(line, "%llx-%llx %4s %lx %*s %*s %255[^\n]", &mapping.start, &mapping.end, mode,
		   &offset, path) < 4 ||
	    mode[2] != 'x')
		return;
	if (path[0] == '/') {
		snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", pid, mapping.start,
			 mapping.end);
		file = file_of(tables, link);
	} else if (!strcmp(path, "[vdso]")) {
		file = vdso_of(tables, pid, mapping.start, mapping.end - mapping.start);
	}
	mapping.root = WIRE_MAPPING(0, path[0] == '[' ? WIRE_MAPPING_SPECIAL : WIRE_MAPPING_JIT);
	if (file) {
		uint64_t bias;

		if (!bias_of(file, mapping.start, offset, &bias)) {
			fprintf(stderr, "tables: no segment for %s", line);
			exit(2);
		}
		mapping.bias = bias;
		mapping.root = WIRE_MAPPING(file->root, file->kind);
		mapping.owner = file->owner;
	}
	add_mapping(tables, process, &mapping);
}

void tables_update(struct tables *tables, pid_t pid)
{
	struct wire_process *process = NULL;
	char path[64], line[512];
	FILE *file;

	for (size_t i = 0; i < tables->n_processes; i++)
		if (tables->processes[i].tgid == (uint32_t)pid)
			process = &tables->processes[i].process;
	if (!process) {
		if (tables->n_processes == MAX_PROCESSES)
			abort();
		tables->processes[tables->n_processes].tgid = (uint32_t)pid;
		process = &tables->processes[tables->n_processes++].process;
	}
	memset(process, 0, sizeof(*process));
	process->owner = ++tables->owners;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		add_line(tables, pid, process, line);
	if (file)
		fclose(file);
}
