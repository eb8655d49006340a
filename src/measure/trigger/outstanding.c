// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/outstanding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "trigger/function_entry.h"
#include "trigger/program_libc.h"
#include "trigger/sites.h"
#include "trigger/spec.h"

#define LIBC	      "c"
#define FUNCTIONS_MAX 16u

/* What is known of functions by their names: the program that takes their arguments. */
static const struct function_role {
	const char *name, *program;
	bool frees, needed;
} ROLES[] = {
	{ .name = "malloc", .program = "on_allocate_1", .needed = true },
	{ .name = "calloc", .program = "on_allocate_1x2" },
	{ .name = "realloc", .program = "on_move_1_2" },
	{ .name = "reallocarray", .program = "on_move_1_2x3" },
	{ .name = "posix_memalign", .program = "on_allocate_3_to_1" },
	{ .name = "aligned_alloc", .program = "on_allocate_2" },
	{ .name = "memalign", .program = "on_allocate_2" },
	{ .name = "valloc", .program = "on_allocate_1" },
	{ .name = "pvalloc", .program = "on_allocate_1" },
	{ .name = "mmap", .program = "on_map_2" },
	{ .name = "mremap", .program = "on_map_move_1_3" },
	{ .name = "free", .program = "on_free_1", .frees = true, .needed = true },
	{ .name = "munmap", .program = "on_unmap_1_2", .frees = true },
};

#define N_ROLES (sizeof(ROLES) / sizeof(ROLES[0]))

_Static_assert(N_ROLES <= FUNCTIONS_MAX, "all of libc's have room");

struct outstanding {
	struct trigger head;
	struct trigger *parts[FUNCTIONS_MAX]; /* each is a struct sites */
	uint32_t n;
};

static struct sites *sites_of(struct trigger *part)
{
	return (struct sites *)part;
}

static int select_programs(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	const struct outstanding *outstanding = (const struct outstanding *)trigger;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < outstanding->n; i++) {
		outstanding->parts[i]->scope = trigger->scope;
		r = sites_select(outstanding->parts[i], object, err);
	}
	return r;
}

static void stop_begin(struct trigger *trigger)
{
	const struct outstanding *outstanding = (const struct outstanding *)trigger;

	for (uint32_t i = 0; i < outstanding->n; i++)
		probes_detach_begin(&sites_of(outstanding->parts[i])->probes);
}

static void stop(struct trigger *trigger)
{
	const struct outstanding *outstanding = (const struct outstanding *)trigger;

	for (uint32_t i = 0; i < outstanding->n; i++)
		probes_detach(&sites_of(outstanding->parts[i])->probes);
}

static int attach(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	const struct outstanding *outstanding = (const struct outstanding *)trigger;
	int r = 0;

	/* What frees comes first: a block that is not seen to be freed would stay. */
	for (uint32_t i = outstanding->n; r == 0 && i-- > 0;)
		r = sites_attach(outstanding->parts[i], object, err);
	if (r < 0)
		stop(trigger);
	return r;
}

static void outstanding_free(struct trigger *trigger)
{
	struct outstanding *outstanding = (struct outstanding *)trigger;

	while (outstanding && outstanding->n > 0)
		trigger_free(outstanding->parts[--outstanding->n]);
	free(outstanding);
}

static uint32_t n_attached(const struct trigger *trigger)
{
	const struct outstanding *outstanding = (const struct outstanding *)trigger;
	uint32_t n = 0;

	for (uint32_t i = 0; i < outstanding->n; i++)
		n += probes_n_attached(outstanding->parts[i]);
	return n;
}

static int file(const struct trigger *trigger)
{
	return sites_file(((const struct outstanding *)trigger)->parts[0]);
}

static const struct trigger_ops OUTSTANDING_OPS = {
	.meet = true,
	.select = select_programs,
	.attach = attach,
	.stop_begin = stop_begin,
	.stop = stop,
	.free = outstanding_free,
	.n_attached = n_attached,
	.file = file,
};

/* Whether the function has two names, of which another part has one. */
static bool is_there(const struct outstanding *outstanding, const struct sites *sites)
{
	struct stat one, other;

	for (uint32_t i = 0; i < outstanding->n; i++) {
		const struct sites *part = sites_of(outstanding->parts[i]);

		if (part->items[0].offset == sites->items[0].offset &&
		    fstat(part->library.fd, &one) == 0 && fstat(sites->library.fd, &other) == 0 &&
		    one.st_ino == other.st_ino && one.st_dev == other.st_dev)
			return true;
	}
	return false;
}

/* Frees are as many as allocations, and begin with a test for NULL, of which nothing is freed. */
static void make_light(struct sites *sites)
{
	uint8_t code[FUNCTION_ENTRY_TEST_MAX];
	ssize_t size = pread(sites->library.fd, code, sizeof(code), (off_t)sites->items[0].offset);

	if (size > 0)
		sites->items[0].offset += function_entry_behind_test(code, (size_t)size);
}

/* Takes over a trigger made by spec_trigger_new(). */
static int add_part(struct outstanding *outstanding, struct trigger *part,
		    const struct function_role *role, struct error *err)
{
	struct sites *sites = sites_of(part);

	if (!part->ops->file || sites->n != 1) {
		error_set(err, -EINVAL, "%.200s is not one function of a program or library",
			  part->event);
		trigger_free(part);
		return -EINVAL;
	}
	if (role->frees)
		make_light(sites);
	if (outstanding->n == FUNCTIONS_MAX || is_there(outstanding, sites)) {
		trigger_free(part);
		return 0;
	}
	sites->n_programs = 0;
	sites->programs[sites->n_programs++] = (struct site_program){ role->program, ATTACH_ENTRY };
	if (!role->frees) {
		sites->programs[sites->n_programs++] =
			(struct site_program){ "on_user_call", ATTACH_ENTRY };
		sites->programs[sites->n_programs++] =
			(struct site_program){ "on_allocated", ATTACH_RETURN };
	}
	outstanding->parts[outstanding->n++] = part;
	return 0;
}

/* What a pattern's function does, by its name. A function that is known throws no exceptions. */
static struct function_role role_of(const char *pattern, bool frees, bool *ret_known)
{
	const char *colon = strrchr(pattern, ':'), *name = colon ? colon + 1 : pattern;

	*ret_known = true;
	for (size_t i = 0; i < N_ROLES; i++)
		if (ROLES[i].frees == frees && strcmp(ROLES[i].name, name) == 0)
			return ROLES[i];
	*ret_known = false;
	return (struct function_role){ .name = name,
				       .program = frees ? "on_free_1" : "on_allocate_1",
				       .frees = frees };
}

/* What is needed while the trigger is made. */
struct making {
	struct outstanding *outstanding;
	const struct outstanding_request *request;
	char *libc; /* what "c" means */
};

static int add_pattern(const struct making *making, const char *pattern, bool frees,
		       struct error *err)
{
	const struct outstanding_request *request = making->request;
	own(own_free) char *full = NULL;
	struct function_role role;
	struct trigger *part;
	bool known;
	int r;

	if (strncmp(pattern, LIBC ":", strlen(LIBC ":")) == 0) {
		if (asprintf(&full, "%s%s", making->libc, pattern + strlen(LIBC)) < 0) {
			full = NULL;
			return error_set(err, -ENOMEM, "out of memory");
		}
		pattern = full;
	}
	role = role_of(pattern, frees, &known);
	r = spec_trigger_new(&(struct spec_request){ .text = pattern,
						     .calls = true,
						     .force = request->force || known,
						     .pid = request->pid },
			     &part, err);
	return r < 0 ? r : add_part(making->outstanding, part, &role, err);
}

static int add_libc(const struct making *making, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < N_ROLES; i++) {
		char pattern[40];

		snprintf(pattern, sizeof(pattern), LIBC ":%s", ROLES[i].name);
		r = add_pattern(making, pattern, ROLES[i].frees, err);
		if (r == -ENOENT && !ROLES[i].needed)
			r = 0;
	}
	return r;
}

static int add_all(struct making *making, struct error *err)
{
	const struct outstanding_request *request = making->request;
	int r;

	making->libc =
		request->program && !request->pid ? program_libc(request->program) : strdup(LIBC);
	if (!making->libc)
		return error_set(err, -ENOMEM, "out of memory");
	r = request->allocates ? add_pattern(making, request->allocates, false, err)
			       : add_libc(making, err);
	if (r == 0 && request->allocates)
		r = add_pattern(making, request->frees, true, err);
	return r;
}

/*
 * The process has the function that allocates in another file, too, as programs with an allocator
 * of their own do: its blocks are asked for by what allocates and frees there.
 */
static void note_other(struct outstanding *outstanding, const char *frees)
{
	const char *other = outstanding->parts[0]->instead, *name = strrchr(frees, ':');
	const char *end = strrchr(other, ':');
	char *instead = outstanding->head.instead;
	size_t size = sizeof(outstanding->head.instead);

	if (end && name &&
	    (size_t)snprintf(instead, size, "--outstanding %s %.*s%s", other, (int)(end - other),
			     other, name) >= size)
		*instead = '\0';
}

int outstanding_trigger_new(const struct outstanding_request *request, struct trigger **ret_trigger,
			    struct error *err)
{
	struct outstanding *outstanding = calloc(1, sizeof(*outstanding));
	struct making making = { .outstanding = outstanding, .request = request };
	int r;

	if (!outstanding)
		return error_set(err, -ENOMEM, "out of memory");
	outstanding->head.ops = &OUTSTANDING_OPS;
	outstanding->head.user_entry = true;
	r = add_all(&making, err);
	free(making.libc);
	if (r < 0) {
		outstanding_free(&outstanding->head);
		return r;
	}
	note_other(outstanding, request->frees ? request->frees : LIBC ":free");
	snprintf(outstanding->head.event, sizeof(outstanding->head.event), "%s",
		 request->allocates ? request->allocates : LIBC ":malloc");
	*ret_trigger = &outstanding->head;
	return 0;
}
