// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/functions.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/pool.h"
#include "trigger/functions_internal.h"
#include "trigger/ifunc.h"

/* An IFUNC whose choice is to be read from a process. */
struct chosen {
	struct function function; /* its names */
	uint64_t slot;
};

struct finding {
	const struct functions_request *request;
	struct functions_facts facts;
	struct functions found;
	uint32_t capacity;
	struct chosen *chosen;
	uint32_t n_chosen, chosen_capacity;
};

static void finding_clear(struct finding *finding)
{
	functions_clear(&finding->found);
	free(finding->chosen);
	finding->chosen = NULL;
	finding->n_chosen = finding->chosen_capacity = finding->capacity = 0;
}

/* `function` has its names. */
static int add(struct finding *finding, struct function function, const struct function_sent *sent)
{
	struct functions *found = &finding->found;
	int r = grow(&found->items, &finding->capacity, found->n + 1);

	if (r < 0)
		return r;
	function.offset = sent->at;
	function.unprobeable = sent->unprobeable != 0;
	function.emulated = sent->emulated != 0;
	function.doubtful = sent->doubtful != 0;
	function.uncalled = sent->uncalled != 0;
	function.more = sent->more != 0;
	found->items[found->n++] = function;
	return 0;
}

static int add_chosen(struct finding *finding, struct function function, uint64_t slot)
{
	int r = grow(&finding->chosen, &finding->chosen_capacity, finding->n_chosen + 1);

	if (r < 0)
		return r;
	finding->chosen[finding->n_chosen++] = (struct chosen){ function, slot };
	return 0;
}

static void leave_unresolved(struct functions *found, const char *name)
{
	found->n_unresolved++;
	snprintf(found->unresolved, sizeof(found->unresolved), "%s", name);
}

static struct function_group checked(struct function_group group)
{
	group.first[sizeof(group.first) - 1] = '\0';
	return group;
}

static int receive_names(struct finding *finding, struct reading *reading,
			 struct function *function)
{
	struct pool *names = finding->found.names;
	int r = reading_string(reading, names, &function->name);

	if (r == 0 && finding->request->details)
		r = reading_string(reading, names, &function->version);
	if (r == 0 && finding->request->details)
		r = reading_string(reading, names, &function->readable);
	return r;
}

/* The functions that the child found. */
static int receive(struct finding *finding, struct reading *reading)
{
	int r = reading_bytes(reading, &finding->facts, sizeof(finding->facts));

	for (uint32_t i = 0; r == 0 && i < finding->facts.n; i++) {
		struct function_sent sent;
		struct function function = { 0 };

		r = reading_bytes(reading, &sent, sizeof(sent));
		if (r == 0)
			r = receive_names(finding, reading, &function);
		if (r < 0)
			break;
		if (sent.is == FUNCTION_PLAIN)
			r = add(finding, function, &sent);
		else if (sent.is == FUNCTION_CHOSEN)
			r = add_chosen(finding, function, sent.at);
		else
			leave_unresolved(&finding->found, function.name);
	}
	finding->found.n_symbols = finding->facts.n_symbols;
	finding->found.n_inlined = finding->facts.n_inlined;
	finding->found.are_clones = finding->facts.are_clones != 0;
	finding->found.weaker = checked(finding->facts.weaker);
	finding->found.cold = checked(finding->facts.cold);
	finding->found.is_go = finding->facts.is_go != 0;
	finding->found.throws = finding->facts.throws != 0;
	finding->found.turning = checked(finding->facts.turning);
	finding->found.unreached = checked(finding->facts.unreached);
	finding->found.bad = finding->facts.bad;
	finding->found.bad.name[sizeof(finding->found.bad.name) - 1] = '\0';
	finding->found.dwarf = finding->facts.dwarf;
	finding->found.near = finding->facts.near;
	return r;
}

/* Reads the file, and the debug file unless `debug_fd` is negative. */
static int read_file(struct finding *finding, int debug_fd, enum debug_proof proof,
		     struct error *err)
{
	const struct functions_request *request = finding->request;
	static const struct nearest none;
	const struct functions_question question = {
		.matcher = request->matcher,
		.nearest = request->nearest ? request->nearest : &none,
		.path = request->path,
		.exported = request->exported,
		.briefly = request->briefly,
		.calls = request->calls,
		.details = request->details,
		.point = request->point ? *request->point : (struct code_point){ 0 },
		.proof = proof,
	};
	const int fds[] = { request->fd, debug_fd };
	own(reading_end) struct reading reading = { 0 };
	int r;

	finding_clear(finding);
	r = pool_new(&finding->found.names);
	if (r < 0)
		return error_set(err, r, "out of memory");
	r = reading_begin(functions_reader_work, &question, sizeof(question), fds,
			  debug_fd < 0 ? 1 : 2, &reading, err);
	if (r < 0)
		return r;
	r = receive(finding, &reading);
	return r < 0 ? error_set(err, r, "cannot read the functions of %.500s: %s", request->path,
				 strerror(-r))
		     : 0;
}

/* Its path, if our mounts have it; or NULL. */
static const char *path_of(int fd, char path[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return path;
}

/* Reads the file again with its debug file, if it is stripped and there is one. */
static int read_debug_file(struct finding *finding, struct error *err)
{
	const struct debug_places places = { .root = getenv("BCC_DEBUGINFO_ROOT") };
	const struct debug_wanted wanted = finding->facts.wanted;
	char path[PATH_MAX];
	struct debug_search search = { .places = &places,
				       .path = path_of(finding->request->fd, path),
				       .fd = finding->request->fd };

	while (finding->facts.stripped && !finding->request->exported &&
	       !finding->facts.right_debug) {
		enum debug_proof proof;
		own(own_fd) int fd = debug_file_open_next(&search, &wanted, &proof);
		int r = fd < 0 ? 0 : read_file(finding, fd, proof, err);

		if (r < 0 || fd < 0)
			return r;
	}
	return 0;
}

/* ---- IFUNCs ---- */

/* The addresses that resolvers chose; those that are not known stay 0. */
static int read_choices(const struct finding *finding, uint64_t *addresses)
{
	const struct functions_request *request = finding->request;
	own(own_ifunc_memory_close) struct ifunc_memory *memory = NULL;
	int r = finding->facts.has_first ? ifunc_memory_open(request->fd, request->pid,
							     finding->facts.first, &memory)
					 : -ENOENT;

	for (uint32_t i = 0; r == 0 && i < finding->n_chosen; i++)
		ifunc_memory_choice(memory, finding->chosen[i].slot, &addresses[i]);
	return r == -ENOMEM ? r : 0;
}

/* Adds the chosen functions, as far as the file has functions that begin there. */
static int add_choices(struct finding *finding, const uint64_t *addresses)
{
	own(reading_end) struct reading reading = { 0 };
	int r = reading_begin(functions_begin_work, addresses,
			      finding->n_chosen * sizeof(*addresses), &finding->request->fd, 1,
			      &reading, NULL);

	for (uint32_t i = 0; i < finding->n_chosen; i++) {
		const struct function *function = &finding->chosen[i].function;
		struct function_sent sent = { .is = FUNCTION_UNRESOLVED };
		int added = 0;

		if (r == 0)
			r = reading_bytes(&reading, &sent, sizeof(sent));
		if (r == 0 && addresses[i] && sent.is == FUNCTION_PLAIN)
			added = add(finding, *function, &sent);
		else
			leave_unresolved(&finding->found, function->name);
		if (added < 0)
			return added;
	}
	return 0;
}

/* Puts the implementations that resolvers chose in the place of IFUNCs. */
static int resolve(struct finding *finding)
{
	own(own_free) uint64_t *addresses = calloc(finding->n_chosen + 1, sizeof(*addresses));
	int r = addresses ? 0 : -ENOMEM;

	if (r < 0 || finding->n_chosen == 0)
		return r;
	r = read_choices(finding, addresses);
	return r < 0 ? r : add_choices(finding, addresses);
}

static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Of several names for one offset only one is kept: two probes would count each call twice. */
static void drop_aliases(struct functions *functions)
{
	uint32_t n = 0;

	if (functions->n == 0)
		return;
	qsort(functions->items, functions->n, sizeof(*functions->items), compare);
	for (uint32_t i = 0; i < functions->n; i++) {
		if (n == 0 || functions->items[i].offset != functions->items[n - 1].offset)
			functions->items[n++] = functions->items[i];
	}
	functions->n = n;
}

int functions_read(const struct functions_request *request, struct functions *ret_functions,
		   struct error *err)
{
	own(finding_clear) struct finding finding = { .request = request };
	int r = read_file(&finding, -1, DEBUG_PROOF_BUILD_ID, err);

	if (r == 0)
		r = read_debug_file(&finding, err);
	if (r < 0)
		return r;
	r = resolve(&finding);
	if (r < 0)
		return error_set(err, r, "out of memory for the functions of %.500s",
				 request->path);
	drop_aliases(&finding.found);
	if (request->nearest)
		*request->nearest = finding.facts.nearest;
	*ret_functions = finding.found;
	finding.found = (struct functions){ 0 };
	return 0;
}

void functions_clear(struct functions *functions)
{
	if (!functions)
		return;
	free(functions->items);
	pool_free(functions->names);
	*functions = (struct functions){ 0 };
}
