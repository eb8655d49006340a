// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/python_description.h"

#include <errno.h>
#include <string.h>

#include "bpf/interpreter_wire.h"
#include "elf/elf_exports.h"

#define COOKIE	    "xdebugpy"
#define N_WORDS	    128 /* of which 3.15 uses 106 */
#define AT_VERSION  1
#define AT_THREADED 2
#define FIRST_GROUP 3

/* What the head of an object takes, and where its type is in it; without the lock that is more. */
#define HEAD_SIZE(threaded) ((threaded) ? 32u : 16u)
#define HEAD_TYPE(threaded) ((threaded) ? 24u : 8u)
/* In a type, the size of its objects stands behind the head, a size and a name. */
#define TYPE_SIZE(threaded) (HEAD_SIZE(threaded) + 16u)

#define STATE_MAX 184 /* where a member of a thread's state may be: the walk copies 192 bytes */

/* Whether all of some members lie in the structure, and are what the walk can read. */
static bool are_within(const uint64_t *words, const uint8_t *members, uint32_t n, uint64_t most)
{
	for (uint32_t i = 0; i < n; i++)
		if (words[members[i]] >= words[0] || words[members[i]] > most)
			return false;
	return true;
}

/* Members' words in their groups; the first one, 0, has the structure's size. */
enum {
	THREAD_PREVIOUS = 1,
	THREAD_NEXT,
	THREAD_INTERPRETER,
	THREAD_FRAME,
	THREAD_WORDS,
	FRAME_PREVIOUS = 1,
	FRAME_CODE,
	FRAME_INSTRUCTION,
	FRAME_LOCALS,
	FRAME_OWNER,
	FRAME_WORDS,
	CODE_FILE = 1,
	CODE_NAME,
	CODE_QUALIFIED,
	CODE_LINES,
	CODE_LINE,
	CODE_BYTES = 9,
	CODE_WORDS,
	HEAD_AT_TYPE = 1,
	HEAD_WORDS,
	STRING_STATE = 1,
	STRING_LENGTH,
	STRING_ASCII,
	STRING_WORDS,
};

/* A thread's state begins with its neighbours and its interpreter. */
static bool is_thread(const uint64_t *words)
{
	return words[THREAD_PREVIOUS] == 0 && words[THREAD_NEXT] == 8 &&
	       words[THREAD_INTERPRETER] == 16 && words[THREAD_FRAME] > 16 &&
	       words[THREAD_FRAME] < words[0] && words[THREAD_FRAME] <= STATE_MAX;
}

/* A frame begins with its code and the frame before. */
static bool is_frame(const uint64_t *words)
{
	static const uint8_t members[] = { FRAME_INSTRUCTION, FRAME_LOCALS, FRAME_OWNER };

	return words[FRAME_CODE] == 0 && words[FRAME_PREVIOUS] == 8 &&
	       are_within(words, members, sizeof(members), FRAME_CAPACITY - 1) &&
	       words[FRAME_INSTRUCTION] % 8 == 0 && words[FRAME_INSTRUCTION] > 8;
}

/* `size`: where the instructions begin, by the type of code objects. */
static bool is_code(const uint64_t *words, uint64_t size)
{
	static const uint8_t members[] = { CODE_FILE, CODE_NAME, CODE_QUALIFIED, CODE_LINES,
					   CODE_LINE };

	return words[CODE_BYTES] == size && words[0] >= size && words[0] - size <= 8 &&
	       are_within(words, members, sizeof(members), size - 8);
}

static bool is_head(const uint64_t *words, bool threaded)
{
	return words[0] == HEAD_SIZE(threaded) && words[HEAD_AT_TYPE] == HEAD_TYPE(threaded);
}

static bool is_string(const uint64_t *words, uint64_t size, bool threaded)
{
	static const uint8_t members[] = { STRING_STATE, STRING_ASCII };

	return words[0] == size && words[STRING_LENGTH] == HEAD_SIZE(threaded) &&
	       words[STRING_STATE] == HEAD_SIZE(threaded) + 16 &&
	       are_within(words, members, sizeof(members), CODE_CAPACITY / 2);
}

/* Where the groups begin, in words. */
struct groups {
	uint32_t thread, frame, code, head, string;
};

/* Sets *at to the first of the words from there on that begins a group; false: none does. */
#define FIND(at, n, condition)                                                                     \
	({                                                                                         \
		while ((at) + (n) <= N_WORDS && !(condition))                                      \
			(at)++;                                                                    \
		(at) + (n) <= N_WORDS;                                                             \
	})

/* Finds the groups, which are in this order in all versions. */
static bool find_groups(const uint64_t *words, uint64_t code_size, uint64_t string_size,
			struct groups *at)
{
	bool threaded = words[AT_THREADED] != 0;

	at->thread = FIRST_GROUP;
	if (!FIND(at->thread, THREAD_WORDS, is_thread(words + at->thread)))
		return false;
	at->frame = at->thread + THREAD_WORDS;
	if (!FIND(at->frame, FRAME_WORDS, is_frame(words + at->frame)))
		return false;
	at->code = at->frame + FRAME_WORDS;
	if (!FIND(at->code, CODE_WORDS, is_code(words + at->code, code_size)))
		return false;
	at->head = at->code + CODE_WORDS;
	if (!FIND(at->head, HEAD_WORDS, is_head(words + at->head, threaded)))
		return false;
	at->string = at->head + HEAD_WORDS;
	return FIND(at->string, STRING_WORDS, is_string(words + at->string, string_size, threaded));
}

static struct python_description describe(const uint64_t *words, const struct groups *at)
{
	const uint64_t *frame = words + at->frame, *code = words + at->code;
	const uint64_t *string = words + at->string;

	return (struct python_description){
		.version = (uint32_t)words[AT_VERSION],
		.free_threaded = words[AT_THREADED] != 0,
		.top = (uint8_t)words[at->thread + THREAD_FRAME],
		.frame_code = (uint8_t)frame[FRAME_CODE],
		.frame_previous = (uint8_t)frame[FRAME_PREVIOUS],
		.frame_instruction = (uint8_t)frame[FRAME_INSTRUCTION],
		.frame_owner = (uint8_t)frame[FRAME_OWNER],
		.type = (uint8_t)words[at->head + HEAD_AT_TYPE],
		.code_file = (uint8_t)code[CODE_FILE],
		.code_name = (uint8_t)code[CODE_QUALIFIED],
		.code_line = (uint8_t)code[CODE_LINE],
		.code_lines = (uint8_t)code[CODE_LINES],
		.code_bytes = (uint8_t)code[CODE_BYTES],
		.string_length = (uint8_t)string[STRING_LENGTH],
		.string_state = (uint8_t)string[STRING_STATE],
		.string_ascii_size = (uint8_t)string[STRING_ASCII],
	};
}

int python_description_read(const struct elf_file *elf, uint64_t runtime, uint64_t code_type,
			    uint64_t string_type, struct python_description *ret_description)
{
	uint64_t words[N_WORDS], code_size, string_size;
	struct groups at;
	bool threaded;

	if (elf_exports_read(elf, runtime, words, sizeof(words)) < 0 ||
	    memcmp(words, COOKIE, sizeof(words[0])) != 0)
		return -ENODATA;
	threaded = words[AT_THREADED] != 0;
	if (elf_exports_read(elf, code_type + TYPE_SIZE(threaded), &code_size, sizeof(code_size)) <
		    0 ||
	    elf_exports_read(elf, string_type + TYPE_SIZE(threaded), &string_size,
			     sizeof(string_size)) < 0 ||
	    code_size < 64 || code_size >= CODE_CAPACITY || string_size >= CODE_CAPACITY ||
	    !find_groups(words, code_size, string_size, &at))
		return -EINVAL;
	*ret_description = describe(words, &at);
	return 0;
}
