/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objdump -d -w --insn-width=15 FILE | compare_instructions: compares the sizes of all instructions
 * with objdump's. Bytes that objdump calls bad, and prefixes alone, are no instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/instruction.h"

#define LINE_SIZE 1024

/* The bytes of a line, and its text. 0: it has no instruction. */
static size_t read_bytes(char *line, uint8_t *bytes, const char **ret_text)
{
	unsigned long long address;
	size_t n = 0;
	int at = 0;

	if (sscanf(line, " %llx:%n", &address, &at) != 1 || !at)
		return 0;
	for (line += at + 1; n < INSTRUCTION_MAX_SIZE; line += 3) {
		char *end;

		bytes[n] = (uint8_t)strtoul(line, &end, 16);
		if (end != line + 2)
			break;
		n++;
	}
	*ret_text = line + strspn(line, " \t");
	return n;
}

int main(void)
{
	unsigned long total = 0, differ = 0;
	char line[LINE_SIZE];

	while (fgets(line, sizeof(line), stdin)) {
		uint8_t bytes[2 * INSTRUCTION_MAX_SIZE];
		const char *text;
		struct instruction of;
		size_t n;

		memset(bytes, 0x90, sizeof(bytes));
		n = read_bytes(line, bytes, &text);
		/* objdump shows fwait and the next instruction as one. */
		if (!n || strstr(text, "(bad)") || strncmp(text, "rex", 3) == 0 ||
		    strncmp(text, ".byte", 5) == 0 || (bytes[0] == 0x9b && n > 1))
			continue;
		of = instruction_decode(bytes, sizeof(bytes));
		total++;
		if (of.kind != INSTRUCTION_UNKNOWN && of.size == n)
			continue;
		if (differ++ < 20)
			printf("%u bytes, not %zu: %s", of.size, n, line);
	}
	printf("%lu instructions, %lu differ\n", total, differ);
	return differ || total < 1000;
}
