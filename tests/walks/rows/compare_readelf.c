/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the rows of ELF files with the tables that binutils' readelf prints: each line with the
 * rule at its address, and each row with the lines.
 *	compare_readelf FILE-OR-DIRECTORY ...
 */
#include <stdlib.h>

#include "comparison.h"

#define MAX_COLUMNS 40
#define MAX_CIES    4096

/* A line of readelf's, with its own notation. */
struct line {
	uint64_t address;
	char cfa[24], fp[16], ra[16];
};

struct cie {
	uint64_t offset;
	bool is_signal;
	struct line initial;
};

static struct {
	bool is_debug;		      /* in .debug_frame */
	bool in_cie, skip, is_signal; /* the entry that lines belong to */
	uint64_t begin, end;
	struct line pending;
	bool has_pending;
	int cfa, fp, ra; /* columns, -1: none */
	struct cie *cies;
	uint32_t n_cies, capacity;
	uint8_t *seen;	  /* by row: a line began there */
	uint64_t covered; /* the end of the .eh_frame ranges so far, by row */
} state;

static const char *const x86_names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
};

/* readelf's name of a register. */
static const char *name_of(uint32_t number)
{
	static char name[8];

	if (all.machine->elf == EM_X86_64)
		return x86_names[number & 15];
	snprintf(name, sizeof(name), number == all.machine->sp ? "sp" : "x%u", number);
	return name;
}

static bool cfa_agrees(const struct wire_rule *rule, const char *cfa)
{
	char text[32];

	if (rule->cfa >= WIRE_CFA_PLT) {
		const char *sum = strpbrk(cfa, "+-");

		/* An expression may stand for any kind of rule. */
		return strcmp(cfa, "exp") == 0 || (rule->cfa == WIRE_CFA_UNSUPPORTED && sum);
	}
	snprintf(text, sizeof(text), "%s%+d",
		 name_of(rule->cfa == WIRE_CFA_SP   ? all.machine->sp
			 : rule->cfa == WIRE_CFA_FP ? all.machine->fp
						    : rule->reg),
		 rule->cfa_offset);
	return strcmp(text, cfa) == 0 || strcmp(cfa, "exp") == 0;
}

static bool place_agrees(const char *place, bool at_cfa, int32_t offset)
{
	char text[32];

	if (!at_cfa)
		return false;
	snprintf(text, sizeof(text), "c%+d", offset);
	return strcmp(text, place) == 0 || strcmp(place, "exp") == 0;
}

static bool is_register(const char *place, int32_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "r%d", number);
	return strcmp(text, place) == 0;
}

static bool fp_agrees(const struct wire_rule *rule, const char *fp)
{
	switch (WIRE_RULE_FP(rule)) {
	case WIRE_FP_SAME: /* readelf prints unmentioned registers as undefined */
		return strcmp(fp, "u") == 0 || strcmp(fp, "s") == 0;
	case WIRE_FP_UNDEFINED:
		return strcmp(fp, "u") == 0;
	case WIRE_FP_CFA:
		return place_agrees(fp, true, rule->fp_offset);
	case WIRE_FP_FP:
		return strcmp(fp, "exp") == 0;
	case WIRE_FP_REG:
		return is_register(fp, rule->fp_offset);
	default:
		return true;
	}
}

static bool has_link(void)
{
	return all.machine->link != CFI_NO_REGISTER;
}

static bool ra_agrees(const struct wire_rule *rule, const char *ra)
{
	switch (WIRE_RULE_RA(rule)) {
	case WIRE_RA_CFA:
		return place_agrees(ra, true, has_link() ? rule->extra : -8);
	case WIRE_RA_CFA_OFFSET:
		return place_agrees(ra, true, rule->extra);
	case WIRE_RA_REG:
		/* unmentioned: where the call left it */
		if (has_link() && rule->reg == all.machine->link &&
		    (strcmp(ra, "u") == 0 || strcmp(ra, "s") == 0))
			return true;
		return is_register(ra, rule->reg);
	default:
		return WIRE_RULE_RA(rule) == WIRE_RA_UNSUPPORTED;
	}
}

/* Compares a line with the rule at one of its addresses. */
static void compare_rule(const struct line *line, uint64_t address)
{
	const struct wire_rule *rule = rule_at(address);
	const char *what = NULL;

	if (is_overruled(rule))
		return;
	if (WIRE_RULE_RA(rule) == WIRE_RA_SIGNAL) {
		if (!state.is_signal)
			differs(address, "a signal frame for one only");
		return;
	}
	/* Where calls leave the address in a register, `u` may mean that it is there. */
	if ((strcmp(line->ra, "u") == 0 && !has_link()) || WIRE_RULE_RA(rule) == WIRE_RA_END) {
		if (strcmp(line->ra, "u") != 0 || WIRE_RULE_RA(rule) != WIRE_RA_END)
			differs(address, "the end for one only: %s, kind %u", line->ra, rule->ra);
		return;
	}
	if (rule->cfa == WIRE_CFA_UNSUPPORTED) {
		all.unsupported++;
		return;
	}
	if (!cfa_agrees(rule, line->cfa))
		what = "CFA";
	else if (!fp_agrees(rule, line->fp))
		what = "frame pointer";
	else if (!ra_agrees(rule, line->ra))
		what = "return address";
	if (what)
		differs(address, "%s: %s %s %s; ours: cfa %u%+d, fp %u%+d, ra %u reg %u", what,
			line->cfa, line->fp, line->ra, rule->cfa, rule->cfa_offset, rule->fp,
			rule->fp_offset, rule->ra, rule->reg);
}

/* Our row that begins at or before the address. */
static uint32_t row_index(uint64_t address)
{
	uint32_t low = 0, high = all.rows.n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (all.rows.rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}

/* The line holds up to `end`. */
static void compare_line(const struct line *line, uint64_t end)
{
	uint32_t row;

	if (end > state.end)
		end = state.end;
	if (line->address >= end)
		return; /* the next line is for the same address */
	all.compared++;
	row = row_index(line->address);
	compare_rule(line, line->address);
	compare_rule(line, end - 1);
	state.seen[row] = 1;
	if (row_index(end - 1) != row)
		differs(line->address, "ours has a row amid theirs, which goes to 0x%" PRIx64, end);
}

static void end_entry(void)
{
	if (state.has_pending)
		compare_line(&state.pending, state.end);
	state.has_pending = false;
}

static struct cie *find_cie(uint64_t offset)
{
	for (uint32_t i = state.n_cies; i-- > 0;) {
		if (state.cies[i].offset == offset)
			return &state.cies[i];
	}
	return NULL;
}

static void begin_cie(uint64_t offset, const char *text)
{
	const char *augmentation = strchr(text, '"');

	if (state.n_cies == state.capacity) {
		state.capacity = state.capacity ? state.capacity * 2 : 64;
		state.cies = realloc(state.cies, state.capacity * sizeof(*state.cies));
		if (!state.cies)
			exit(2);
	}
	state.cies[state.n_cies] = (struct cie){ .offset = offset };
	if (augmentation) {
		size_t length = strcspn(augmentation + 1, "\"");

		state.cies[state.n_cies].is_signal = memchr(augmentation + 1, 'S', length) != NULL;
	}
	state.n_cies++;
	state.in_cie = true;
}

static void begin_fde(const char *text)
{
	const char *cie_at = strstr(text, "cie="), *pc = strstr(text, "pc=");
	struct cie *cie = cie_at ? find_cie(strtoull(cie_at + 4, NULL, 16)) : NULL;
	const struct wire_rule *rule;
	char *rest;

	state.in_cie = false;
	state.skip = true;
	if (!pc || !cie)
		return;
	state.begin = strtoull(pc + 3, &rest, 16);
	state.end = strtoull(rest + 2, NULL, 16);
	/* Discarded code, and code that .eh_frame covered before. */
	if (state.begin >= state.end || (state.is_debug && (!state.begin || !all.rows.n)))
		return;
	rule = rule_at(state.begin);
	if (state.is_debug && all.rows.counts.ranges[UNWIND_EH_FRAME] &&
	    rule->cfa != WIRE_CFA_NONE && state.seen[row_index(state.begin)])
		return;
	state.skip = false;
	state.is_signal = cie->is_signal;
	/* An FDE without lines has those of its CIE. */
	state.pending = cie->initial;
	state.pending.address = state.begin;
	state.has_pending = true;
}

static void read_columns(char *text)
{
	int column = 0;

	state.cfa = state.fp = state.ra = -1;
	for (char *save, *name = strtok_r(text, " \n", &save); name;
	     name = strtok_r(NULL, " \n", &save), column++) {
		if (strcmp(name, "CFA") == 0)
			state.cfa = column;
		else if (strcmp(name, name_of(all.machine->fp)) == 0)
			state.fp = column;
		else if (strcmp(name, "ra") == 0)
			state.ra = column;
	}
}

static void read_line(char *text)
{
	struct line line = { .cfa = "?", .fp = "u", .ra = "u" };
	int column = 0;

	for (char *save, *word = strtok_r(text, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save), column++) {
		if (*word == '(') /* the name of the register before it */
			column--;
		else if (column == 0)
			line.address = strtoull(word, NULL, 16);
		else if (column == state.cfa)
			snprintf(line.cfa, sizeof(line.cfa), "%s", word);
		else if (column == state.fp)
			snprintf(line.fp, sizeof(line.fp), "%s", word);
		else if (column == state.ra)
			snprintf(line.ra, sizeof(line.ra), "%s", word);
	}
	if (state.in_cie) {
		state.cies[state.n_cies - 1].initial = line;
	} else if (!state.skip) {
		if (state.has_pending)
			compare_line(&state.pending, line.address);
		state.pending = line;
		state.has_pending = true;
	}
}

static void read_output(FILE *output)
{
	char text[4096];

	while (fgets(text, sizeof(text), output)) {
		uint64_t offset = strtoull(text, NULL, 16);

		if (strncmp(text, "Contents of", 11) == 0) {
			end_entry();
			state.is_debug = strstr(text, "debug_frame") != NULL;
			state.n_cies = 0;
		} else if (strncmp(text, "   LOC", 6) == 0) {
			read_columns(text);
		} else if (strstr(text, " CIE ")) {
			end_entry();
			begin_cie(offset, text);
		} else if (strstr(text, " FDE ")) {
			end_entry();
			begin_fde(text);
		} else if (strspn(text, "0123456789abcdef") == 16) {
			read_line(text);
		}
	}
	end_entry();
}

static void compare_file(int fd)
{
	char command[128];
	FILE *output;

	snprintf(command, sizeof(command), "readelf -wNF /proc/%d/fd/%d 2>/dev/null", getpid(), fd);
	state.n_cies = 0;
	state.has_pending = false;
	state.seen = calloc(all.rows.n, 1);
	output = popen(command, "r");
	if (!state.seen || !output)
		exit(2);
	read_output(output);
	pclose(output);
	for (uint32_t i = 0; i < all.rows.n; i++) {
		const struct wire_rule *rule = &all.rules[all.rows.rows[i].rule];

		if (!state.seen[i] && rule->cfa != WIRE_CFA_NONE)
			only_ours(all.rows.rows[i].address);
		if (state.seen[i] && rule->cfa == WIRE_CFA_NONE)
			differs(all.rows.rows[i].address, "a gap of ours that they know");
	}
	free(state.seen);
}

int main(int argc, char **argv)
{
	int r = compare_all(argv + 1, argc - 1, "readelf");

	free(state.cies);
	return r;
}
