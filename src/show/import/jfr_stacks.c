// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/jfr_stacks.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "tally/java_names.h"
#include "tally/languages.h"

/* ---- what is known of the chunk's constants ---- */

/* What is stored in place has no key. */
static bool has_key(const struct jfr_value *value)
{
	return !value->field || value->field->constant;
}

static uint64_t hash_of(const struct jfr_known *known)
{
	return hash_u64(hash_u64(hash_u64(known->keys[0] ^ known->kind) ^ known->keys[1]) ^
			known->keys[2]);
}

/* NULL if there is none; valid until the next is added. */
static const struct tally_entry *find(const struct jfr_stacks *stacks,
				      const struct jfr_known *wanted)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&stacks->index, hash_of(wanted), &cursor); at != INDEX_NONE;
	     at = index_next(&stacks->index, &cursor)) {
		const struct jfr_known *known = &stacks->known[at];

		if (known->kind == wanted->kind &&
		    memcmp(known->keys, wanted->keys, sizeof(known->keys)) == 0)
			return &known->is;
	}
	return NULL;
}

static int remember(struct jfr_stacks *stacks, const struct jfr_known *known)
{
	int r = grow(&stacks->known, &stacks->known_capacity, (size_t)stacks->n_known + 1);

	if (r == 0)
		r = index_add(&stacks->index, hash_of(known), stacks->n_known);
	if (r == 0)
		stacks->known[stacks->n_known++] = *known;
	return r;
}

/* ---- frames of the tally ---- */

static bool is_same(const struct names_frame *a, const struct names_frame *b)
{
	return a->name == b->name && a->module == b->module && a->line == b->line &&
	       a->flags == b->flags && a->language == b->language;
}

/* Names are in the pool, so that equal ones are at one place. */
static int address_of(struct jfr_stacks *stacks, const struct names_frame *frame, uint32_t *ret_id)
{
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)frame->name) ^
			hash_u64((uint64_t)frame->line << 32 | frame->flags << 8 | frame->language);
	uint32_t id = tally_n_addresses(stacks->tally);
	const struct tally_address address = { .address = id,
					       .image = !(frame->flags & NAMES_FRAME_KERNEL) };
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&stacks->frames, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&stacks->frames, &cursor)) {
		struct names_frame known = names_frame(stacks->names, at);

		if (is_same(&known, frame)) {
			*ret_id = at;
			return 0;
		}
	}
	*ret_id = id;
	r = names_add_address(stacks->names, frame, 1);
	if (r == 0)
		r = tally_append_address(stacks->tally, &address);
	return r < 0 ? r : index_add(&stacks->frames, hash, id);
}

static bool in_kernel(const struct jfr_stacks *stacks, uint32_t id)
{
	return names_frame(stacks->names, names_address(stacks->names, id).first).flags &
	       NAMES_FRAME_KERNEL;
}

/* Adds a frame nearer to the root; callers of user code are user code. */
static void add_address(struct jfr_stacks *stacks, uint32_t id)
{
	bool kernel = stacks->n_user == 0 && in_kernel(stacks, id);
	uint32_t *n = kernel ? &stacks->n_kernel : &stacks->n_user;

	if (*n == TALLY_MAX_FRAMES)
		*(kernel ? &stacks->cut_kernel : &stacks->cut_user) = true;
	else
		(kernel ? stacks->kernel : stacks->user)[(*n)++] = id;
}

static int add_frame(struct jfr_stacks *stacks, const struct names_frame *frame)
{
	uint32_t id;
	int r = address_of(stacks, frame, &id);

	if (r == 0)
		add_address(stacks, id);
	return r;
}

/* ---- names ---- */

static void start_text(struct jfr_stacks *stacks)
{
	stacks->text.used = 0;
}

static int keep(struct jfr_stacks *stacks, const char **ret_copy)
{
	*ret_copy = NULL;
	if (stacks->text.failed)
		return -ENOMEM;
	if (stacks->text.used == 0)
		return 0;
	*ret_copy = pool_string_n(stacks->pool, stacks->text.start, stacks->text.used);
	return *ret_copy ? 0 : -ENOMEM;
}

/* Java's names with dots, and without what a class without a name has anew in each run. */
static void show_java(struct jfr_stacks *stacks)
{
	bytes_char(&stacks->text, '\0');
	if (stacks->text.failed)
		return;
	java_name_show(stacks->text.start);
	stacks->text.used = strlen(stacks->text.start);
}

/* The name of a class from its constant; "" if it has none. */
static int put_class(struct jfr_stacks *stacks, const struct jfr_value *class)
{
	static const char *const names[] = { "name" };
	struct jfr_object object = jfr_chunk_object(stacks->chunk, class);
	struct jfr_value name;
	int r;

	if (object.type == JFR_NO_TYPE)
		return 0;
	r = jfr_chunk_fields(stacks->chunk, object.type, object.at, names, &name, 1);
	return r < 0 ? r : jfr_chunk_text(stacks->chunk, &name, &stacks->text);
}

/* "[[I" is "int[][]", "[La/B;" is "a.B[]". */
static void show_array(struct jfr_stacks *stacks)
{
	static const struct {
		char letter;
		const char *name;
	} plain[] = { { 'B', "byte" }, { 'C', "char" }, { 'D', "double" }, { 'F', "float" },
		      { 'I', "int" },  { 'J', "long" }, { 'S', "short" },  { 'Z', "boolean" } };
	struct bytes *text = &stacks->text;
	size_t n = 0, size = text->used;
	const char *name = NULL;

	while (n < size && text->start[n] == '[')
		n++;
	if (n == 0 || n == size || n > 255)
		return;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (size == n + 1 && text->start[n] == plain[i].letter)
			name = plain[i].name;
	if (name) {
		start_text(stacks);
		bytes_string(text, name);
	} else {
		if (text->start[n] == 'L' && text->start[size - 1] == ';') {
			memmove(text->start, text->start + n + 1, size - n - 2);
			text->used = size - n - 2;
		} else {
			memmove(text->start, text->start + n, size - n);
			text->used = size - n;
		}
	}
	while (n-- > 0)
		bytes_string(text, "[]");
}

/* ---- frames of the chunk ---- */

static enum jfr_frame_kind kind_named(const char *name, bool has_kernel)
{
	if (strcmp(name, "Kernel") == 0)
		return JFR_FRAME_KERNEL;
	if (strcmp(name, "C++") == 0)
		return JFR_FRAME_NATIVE;
	if (strcmp(name, "Inlined") == 0)
		return JFR_FRAME_INLINED;
	/* The JDK's native frames are native methods; it has no frames of the kernel. */
	return strcmp(name, "Native") == 0 && has_kernel ? JFR_FRAME_NATIVE : JFR_FRAME_JAVA;
}

/* Sets the kinds of frames, and whether one of them is of the kernel. */
static int read_kinds(struct jfr_stacks *stacks, bool *has_kernel)
{
	static const char *const names[] = { "description" };
	struct jfr_chunk *chunk = stacks->chunk;
	uint32_t type = jfr_type_named(&chunk->types, "jdk.types.FrameType");
	int r = 0;

	for (uint32_t i = 0; r == 0 && type != JFR_NO_TYPE && i < chunk->n_constants; i++) {
		const struct jfr_constant *constant = &chunk->constants[i];
		struct jfr_value value;

		if (constant->type != type || constant->key >= JFR_FRAME_KINDS)
			continue;
		r = jfr_chunk_fields(chunk, type, jfr_chunk_constant(chunk, constant), names,
				     &value, 1);
		start_text(stacks);
		if (r == 0)
			r = jfr_chunk_text(chunk, &value, &stacks->text);
		bytes_char(&stacks->text, '\0');
		if (stacks->text.failed)
			return -ENOMEM;
		stacks->kinds[constant->key] = kind_named(stacks->text.start, *has_kernel);
		*has_kernel |= stacks->kinds[constant->key] == JFR_FRAME_KERNEL;
	}
	return r;
}

enum { METHOD_TYPE, METHOD_NAME, METHOD_N };
enum { FRAME_METHOD, FRAME_LINE, FRAME_TYPE, FRAME_N };

static int name_native(struct jfr_stacks *stacks, const struct jfr_value method[METHOD_N],
		       struct names_frame *frame)
{
	int r;

	start_text(stacks);
	r = put_class(stacks, &method[METHOD_TYPE]);
	if (r == 0)
		r = keep(stacks, &frame->module);
	start_text(stacks);
	if (r == 0)
		r = jfr_chunk_text(stacks->chunk, &method[METHOD_NAME], &stacks->text);
	if (r == 0)
		r = keep(stacks, &frame->name);
	if (frame->flags & NAMES_FRAME_KERNEL && r == 0 && !frame->module)
		frame->module = "[kernel]";
	return r;
}

static int name_java(struct jfr_stacks *stacks, const struct jfr_value method[METHOD_N],
		     struct names_frame *frame)
{
	int r;

	start_text(stacks);
	r = put_class(stacks, &method[METHOD_TYPE]);
	if (stacks->text.used > 0)
		bytes_char(&stacks->text, '.');
	if (r == 0)
		r = jfr_chunk_text(stacks->chunk, &method[METHOD_NAME], &stacks->text);
	show_java(stacks);
	frame->language = LANGUAGE_JAVA;
	return r < 0 ? r : keep(stacks, &frame->name);
}

static int read_method(struct jfr_stacks *stacks, const struct jfr_value *value,
		       enum jfr_frame_kind kind, struct names_frame *frame)
{
	static const char *const names[METHOD_N] = { "type", "name" };
	struct jfr_object object = jfr_chunk_object(stacks->chunk, value);
	struct jfr_value method[METHOD_N];
	int r;

	if (object.type == JFR_NO_TYPE)
		return 0; /* a frame without a name */
	r = jfr_chunk_fields(stacks->chunk, object.type, object.at, names, method, METHOD_N);
	if (r < 0)
		return r;
	if (kind == JFR_FRAME_KERNEL)
		frame->flags |= NAMES_FRAME_KERNEL;
	if (kind == JFR_FRAME_INLINED)
		frame->flags |= NAMES_FRAME_INLINED;
	return kind == JFR_FRAME_NATIVE || kind == JFR_FRAME_KERNEL
		       ? name_native(stacks, method, frame)
		       : name_java(stacks, method, frame);
}

static int read_new_frame(struct jfr_stacks *stacks, const struct jfr_value values[FRAME_N],
			  struct jfr_known *known)
{
	struct names_frame frame = { .object = NAMES_NONE, .line = (uint32_t)known->keys[1] };
	int r = read_method(stacks, &values[FRAME_METHOD], (enum jfr_frame_kind)known->keys[2],
			    &frame);

	if (r == 0)
		r = address_of(stacks, &frame, &known->is.user);
	if (r == 0 && has_key(&values[FRAME_METHOD]))
		r = remember(stacks, known);
	return r;
}

static int read_frame(struct jfr_stacks *stacks, const struct jfr_field *field,
		      struct jfr_cursor *cursor)
{
	static const char *const names[FRAME_N] = { "method", "lineNumber", "type" };
	const struct jfr_field one = { field->name, field->type_id, field->type, field->constant,
				       false };
	struct jfr_object object =
		jfr_chunk_object(stacks->chunk, &(struct jfr_value){ &one, *cursor });
	struct jfr_known known = { .kind = JFR_KNOWN_FRAME };
	const struct tally_entry *found;
	struct jfr_value values[FRAME_N];
	uint64_t kind;
	int64_t line;
	int r = jfr_chunk_skip(stacks->chunk, &one, cursor);

	if (r < 0 || object.type == JFR_NO_TYPE)
		return r;
	r = jfr_chunk_fields(stacks->chunk, object.type, object.at, names, values, FRAME_N);
	if (r < 0)
		return r;
	kind = jfr_chunk_key(&values[FRAME_TYPE]);
	line = jfr_chunk_number(stacks->chunk, &values[FRAME_LINE]);
	known.keys[0] = jfr_chunk_key(&values[FRAME_METHOD]);
	known.keys[1] = line > 0 && line < UINT32_MAX ? (uint64_t)line : 0;
	known.keys[2] = kind < JFR_FRAME_KINDS ? stacks->kinds[kind] : JFR_FRAME_JAVA;
	found = has_key(&values[FRAME_METHOD]) ? find(stacks, &known) : NULL;
	if (found)
		known.is = *found;
	else
		r = read_new_frame(stacks, values, &known);
	if (r == 0)
		add_address(stacks, known.is.user);
	return r;
}

static int read_frames(struct jfr_stacks *stacks, const struct jfr_value *value)
{
	static const char *const names[] = { "truncated", "frames" };
	struct jfr_object object = jfr_chunk_object(stacks->chunk, value);
	struct jfr_value of[2];
	bool truncated;
	int r;

	if (object.type == JFR_NO_TYPE)
		return 0;
	r = jfr_chunk_fields(stacks->chunk, object.type, object.at, names, of, 2);
	if (r < 0 || !of[1].field || !of[1].field->list || of[1].field->type == JFR_NO_TYPE)
		return r;
	for (uint32_t n = jfr_count(&of[1].at); r == 0 && n > 0; n--)
		r = read_frame(stacks, of[1].field, &of[1].at);
	truncated = jfr_chunk_number(stacks->chunk, &of[0]) != 0;
	stacks->cut_user |= truncated && stacks->n_user > 0;
	stacks->cut_kernel |= truncated && stacks->n_user == 0;
	return r;
}

/* ---- what is no function ---- */

/* STATE_SLEEPING is a frame "[sleeping]"; a thread that ran, or of which nothing is known, has
 * none. */
static int add_state(struct jfr_stacks *stacks, const struct jfr_value *value)
{
	static const char *const names[] = { "name" };
	static const char start[] = "STATE_";
	struct jfr_object object = jfr_chunk_object(stacks->chunk, value);
	struct names_frame frame = { .object = NAMES_NONE,
				     .flags = NAMES_FRAME_KERNEL | NAMES_FRAME_BLOCKED };
	struct bytes *text = &stacks->text;
	struct jfr_value name;
	int r;

	if (object.type == JFR_NO_TYPE)
		return 0;
	r = jfr_chunk_fields(stacks->chunk, object.type, object.at, names, &name, 1);
	start_text(stacks);
	bytes_char(text, '[');
	if (r == 0)
		r = jfr_chunk_text(stacks->chunk, &name, text);
	bytes_string(text, "]");
	bytes_char(text, '\0');
	if (r < 0 || text->failed)
		return r < 0 ? r : -ENOMEM;
	text->used--;
	if (strncmp(text->start + 1, start, strlen(start)) == 0) {
		text->used -= strlen(start);
		memmove(text->start + 1, text->start + 1 + strlen(start), text->used);
	}
	if (strcmp(text->start, "[]") == 0 || strcmp(text->start, "[DEFAULT]") == 0 ||
	    strcmp(text->start, "[RUNNABLE]") == 0)
		return 0;
	for (size_t i = 0; i < text->used; i++)
		text->start[i] =
			text->start[i] == '_' ? ' ' : (char)tolower((unsigned char)text->start[i]);
	r = keep(stacks, &frame.name);
	return r < 0 ? r : add_frame(stacks, &frame);
}

static int add_object(struct jfr_stacks *stacks, const struct jfr_value *value)
{
	struct names_frame frame = { .object = NAMES_NONE, .language = LANGUAGE_JAVA };
	int r;

	start_text(stacks);
	r = put_class(stacks, value);
	if (r < 0 || stacks->text.used == 0)
		return r;
	show_array(stacks);
	show_java(stacks);
	r = keep(stacks, &frame.name);
	return r < 0 ? r : add_frame(stacks, &frame);
}

/* ---- stacks ---- */

void jfr_stacks_start(struct jfr_stacks *stacks, struct tally *tally, struct names *names,
		      struct pool *pool)
{
	*stacks = (struct jfr_stacks){ .tally = tally, .names = names, .pool = pool };
	bytes_start(&stacks->text, NULL);
}

void jfr_stacks_clear(struct jfr_stacks *stacks)
{
	index_free(&stacks->frames);
	index_free(&stacks->index);
	free(stacks->known);
	bytes_clear(&stacks->text);
}

int jfr_stacks_begin(struct jfr_stacks *stacks, struct jfr_chunk *chunk)
{
	bool has_kernel = false;
	int r;

	stacks->chunk = chunk;
	stacks->n_known = 0;
	index_free(&stacks->index);
	stacks->index = (struct index){ 0 };
	memset(stacks->kinds, 0, sizeof(stacks->kinds));
	r = read_kinds(stacks, &has_kernel);
	/* What "Native" means depends on whether the kernel's frames, which come later, are there.
	 */
	return r == 0 && has_kernel ? read_kinds(stacks, &has_kernel) : r;
}

static void begin_stack(struct jfr_stacks *stacks)
{
	stacks->n_user = stacks->n_kernel = 0;
	stacks->cut_user = stacks->cut_kernel = false;
}

static int end_stack(struct jfr_stacks *stacks, struct tally_entry *entry)
{
	int r = tally_stack(stacks->tally, stacks->user, stacks->n_user,
			    stacks->cut_user ? TALLY_STACK_CUT : 0, &entry->user);

	return r < 0 ? r
		     : tally_stack(stacks->tally, stacks->kernel, stacks->n_kernel,
				   stacks->cut_kernel && stacks->n_kernel ? TALLY_STACK_CUT : 0,
				   &entry->kernel);
}

/* The frames alone, which are the same whatever the thread did. */
static int read_stack(struct jfr_stacks *stacks, const struct jfr_value *stack,
		      struct jfr_known *known)
{
	const struct tally_entry *found = has_key(stack) ? find(stacks, known) : NULL;
	int r;

	if (found) {
		known->is = *found;
		return 0;
	}
	begin_stack(stacks);
	r = read_frames(stacks, stack);
	if (r == 0)
		r = end_stack(stacks, &known->is);
	return r == 0 && has_key(stack) ? remember(stacks, known) : r;
}

static void add_stack(struct jfr_stacks *stacks, uint32_t id, bool *cut)
{
	const struct tally_stack *stack;

	if (id >= tally_n_stacks(stacks->tally))
		return;
	stack = &tally_stacks(stacks->tally)[id];
	for (uint32_t i = 0; i < stack->n_frames; i++)
		add_address(stacks, tally_frames(stacks->tally, stack)[i]);
	*cut |= (stack->flags & TALLY_STACK_CUT) != 0;
}

int jfr_stacks_stack(struct jfr_stacks *stacks, const struct jfr_value *stack,
		     const struct jfr_value *state, const struct jfr_value *object,
		     struct tally_entry *entry)
{
	bool whole = has_key(stack) && has_key(state) && has_key(object);
	struct jfr_known of = { .keys = { jfr_chunk_key(stack), UINT64_MAX } }, known = of;
	const struct tally_entry *found;
	int r;

	known.keys[1] = jfr_chunk_key(state);
	known.keys[2] = jfr_chunk_key(object);
	found = whole ? find(stacks, &known) : NULL;
	if (found) {
		entry->user = found->user;
		entry->kernel = found->kernel;
		return 0;
	}
	r = read_stack(stacks, stack, &of);
	if (r < 0)
		return r;
	begin_stack(stacks);
	r = add_state(stacks, state);
	if (r == 0)
		r = add_object(stacks, object);
	if (r < 0)
		return r;
	add_stack(stacks, of.is.kernel, &stacks->cut_kernel);
	add_stack(stacks, of.is.user, &stacks->cut_user);
	r = end_stack(stacks, entry);
	known.is = *entry;
	return r == 0 && whole ? remember(stacks, &known) : r;
}

/* ---- threads ---- */

/* Comms have at most 15 bytes; not within a character. */
static void set_comm(const struct bytes *text, struct tally_entry *entry)
{
	size_t size = text->used < TALLY_COMM_SIZE ? text->used : TALLY_COMM_SIZE - 1;

	while (size > 0 && size < text->used && ((unsigned char)text->start[size] & 0xc0) == 0x80)
		size--;
	memset(entry->comm, 0, sizeof(entry->comm));
	if (size > 0)
		memcpy(entry->comm, text->start, size);
}

enum { THREAD_JAVA_NAME, THREAD_OS_NAME, THREAD_ID, THREAD_N };

static int read_thread(struct jfr_stacks *stacks, const struct jfr_object *object,
		       struct tally_entry *entry)
{
	static const char *const names[THREAD_N] = { "javaName", "osName", "osThreadId" };
	struct jfr_value values[THREAD_N];
	int64_t id;
	int r = jfr_chunk_fields(stacks->chunk, object->type, object->at, names, values, THREAD_N);

	start_text(stacks);
	if (r == 0)
		r = jfr_chunk_text(stacks->chunk, &values[THREAD_JAVA_NAME], &stacks->text);
	if (r == 0 && stacks->text.used == 0)
		r = jfr_chunk_text(stacks->chunk, &values[THREAD_OS_NAME], &stacks->text);
	if (r == 0 && stacks->text.failed)
		r = -ENOMEM;
	if (r < 0)
		return r;
	set_comm(&stacks->text, entry);
	id = jfr_chunk_number(stacks->chunk, &values[THREAD_ID]);
	entry->tid = id > 0 && id <= INT32_MAX ? (uint32_t)id : 0;
	return 0;
}

int jfr_stacks_thread(struct jfr_stacks *stacks, const struct jfr_value *thread,
		      struct tally_entry *entry)
{
	struct jfr_object object = jfr_chunk_object(stacks->chunk, thread);
	struct jfr_known wanted = { .kind = JFR_KNOWN_THREAD, .keys = { jfr_chunk_key(thread) } };
	const struct tally_entry *found = has_key(thread) ? find(stacks, &wanted) : NULL;
	int r = 0;

	if (object.type == JFR_NO_TYPE)
		return 0;
	if (found)
		wanted.is = *found;
	else
		r = read_thread(stacks, &object, &wanted.is);
	if (r == 0 && !found && has_key(thread))
		r = remember(stacks, &wanted);
	entry->tid = wanted.is.tid;
	memcpy(entry->comm, wanted.is.comm, sizeof(entry->comm));
	return r;
}
