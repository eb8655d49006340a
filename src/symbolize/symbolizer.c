/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "process/moved_text.h"
#include "symbolize/frame_builder.h"
#include "symbolize/jit_again.h"
#include "symbolize/lookup.h"

/*
 * What names may cost: a report about a whole machine is to be
 * there a few seconds after its measurement, whatever users have mapped.
 */
static const struct confined_limits limits = {
	.call_ns = 20 * NS_PER_SECOND,
	.owner_ns = 700 * NS_PER_MS,
	.others_ns = 1400 * NS_PER_MS,
	.renew_ns = 10 * NS_PER_SECOND,
	.answers = 64 << 20,
	.bytes = 1ull << 30,
};

static const char *const vsyscalls[VSYSCALL_N] = { "gettimeofday", "time", "getcpu" };

struct symbolizer {
	struct lookup lookup;
	struct frame_builder *builder;
	struct jit_again again;
	bool inlines, lines, file_addresses;
	uint32_t n_broken_before; /* inlines_n_broken() before symbolizer_forget() */
};

DEFINE_OWN(struct symbolizer, symbolizer_free)

/* Makes the parts that symbolizer_forget() frees. */
static int make_parts(struct symbolizer *symbolizer)
{
	struct lookup *lookup = &symbolizer->lookup;
	int r = symbol_cache_new(&lookup->cache);

	if (r < 0)
		return r;
	if (symbolizer->inlines || symbolizer->lines) {
		r = inlines_new(symbol_cache_pool(lookup->cache), symbolizer->inlines,
				symbolizer->lines, &lookup->inlines);
		if (r < 0)
			return r;
	}
	r = frame_builder_new(lookup->images, lookup->cache, lookup->kernel, lookup->inlines,
			      lookup->scripts, symbolizer->file_addresses, &symbolizer->builder);
	if (r < 0)
		return r;
	r = symbol_cache_add(lookup->cache, &(struct symbol){ .name = MOVED_TEXT_PACKED },
			     &lookup->packed_symbol);
	for (int i = 0; i < VSYSCALL_N && r >= 0; i++)
		r = symbol_cache_add(lookup->cache, &(struct symbol){ .name = vsyscalls[i] },
				     &lookup->vsyscall_symbols[i]);
	if (r < 0)
		return r;
	return symbol_cache_add(lookup->cache,
				&(struct symbol){ .name = "[jit]", .flags = NAMES_FRAME_JIT },
				&lookup->jit_symbol);
}

static void free_parts(struct symbolizer *symbolizer)
{
	struct lookup *lookup = &symbolizer->lookup;

	jit_again_free(&symbolizer->again);
	frame_builder_free(symbolizer->builder);
	inlines_free(lookup->inlines);
	symbol_cache_free(lookup->cache);
	symbolizer->builder = NULL;
	lookup->inlines = NULL;
	lookup->cache = NULL;
}

static int open_path(void *context, const char *path, struct stat *ret_status)
{
	const struct images *images = context;
	int fd;

	images_lock(images);
	fd = images_open_path(images, path, ret_status);
	images_unlock(images);
	return fd;
}

static int open_beside(void *context, uint32_t file, const char *path, struct stat *ret_status)
{
	const struct images *images = context;
	int fd;

	images_lock(images);
	fd = images_open_beside(images, file, path, ret_status);
	images_unlock(images);
	return fd;
}

int symbolizer_new(struct images *images, const struct symbolizer_options *options,
		   struct symbolizer **ret_symbolizer)
{
	static const struct symbolizer_options none;
	own(own_symbolizer_free) struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int r;

	if (!symbolizer)
		return -ENOMEM;
	if (!options)
		options = &none;
	symbolizer->lookup.images = images;
	symbolizer->lookup.places.symfs = options->symfs;
	symbolizer->lookup.places.root = options->debuginfo_root;
	symbolizer->lookup.places.open = open_path;
	symbolizer->lookup.places.open_beside = open_beside;
	symbolizer->lookup.places.context = images;
	symbolizer->lookup.use_debuginfod = options->debuginfod;
	symbolizer->lookup.scripts = options->scripts;
	symbolizer->lookup.progress = options->progress;
	symbolizer->lookup.progress_context = options->progress_context;
	symbolizer->inlines = options->inlines;
	symbolizer->lines = options->lines;
	symbolizer->file_addresses = options->file_addresses;
	r = kernel_names_new(&symbolizer->lookup.kernel);
	if (r < 0)
		return r;
	r = confined_new(options->patient ? &confined_limits_default : &limits,
			 &symbolizer->lookup.readers);
	if (r == 0)
		r = confined_prepare(symbolizer->lookup.readers);
	if (r < 0)
		return r;
	r = make_parts(symbolizer);
	if (r < 0)
		return r;
	*ret_symbolizer = take_ptr(symbolizer);
	return 0;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	free_parts(symbolizer);
	debuginfod_free(symbolizer->lookup.debuginfod);
	kernel_names_free(symbolizer->lookup.kernel);
	confined_free(symbolizer->lookup.readers);
	free(symbolizer);
}

int symbolizer_forget(struct symbolizer *symbolizer)
{
	symbolizer->n_broken_before = symbolizer_n_broken_inlines(symbolizer);
	free_parts(symbolizer);
	return make_parts(symbolizer);
}

int symbolizer_ask_kernel(struct symbolizer *symbolizer, const struct kernel_lookup *lookup)
{
	return kernel_names_ask(symbolizer->lookup.kernel, lookup);
}

void symbolizer_prepare(struct symbolizer *symbolizer)
{
	kernel_names_table(symbolizer->lookup.kernel);
}

struct kernel_names *symbolizer_kernel(struct symbolizer *symbolizer)
{
	return symbolizer->lookup.kernel;
}

const char *symbolizer_kernel_advice(const struct symbolizer *symbolizer)
{
	if (!symbolizer->lookup.met_kernel)
		return NULL;
	return kernel_names_advice(symbolizer->lookup.kernel);
}

uint32_t symbolizer_n_broken_inlines(const struct symbolizer *symbolizer)
{
	const struct inlines *inlines = symbolizer->lookup.inlines;

	return symbolizer->n_broken_before + (inlines ? inlines_n_broken(inlines) : 0);
}

uint32_t symbolizer_n_missing_inlines(const struct symbolizer *symbolizer, const char **ret_file)
{
	const struct inlines *inlines = symbolizer->lookup.inlines;

	*ret_file = "";
	return inlines ? inlines_n_missing(inlines, ret_file) : 0;
}

struct confined_losses symbolizer_losses(const struct symbolizer *symbolizer)
{
	return confined_losses(symbolizer->lookup.readers);
}

const struct sources_refused *symbolizer_refused(const struct symbolizer *symbolizer)
{
	return &symbolizer->lookup.refused;
}

/* Looks `n` addresses up again, LOOKUP_MAX at most, and replaces the names that are found. */
static int replace(struct symbolizer *symbolizer, const struct tally *tally, struct names *names,
		   const uint32_t *ids, uint32_t n)
{
	own(own_free) struct tally_address *addresses = malloc(n * sizeof(*addresses));
	own(own_free) struct symbol_match *matches = malloc(n * sizeof(*matches));
	int r = addresses && matches ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		addresses[i] = tally_addresses(tally)[ids[i]];
	if (r == 0)
		r = lookup_resolve(&symbolizer->lookup, addresses, n, matches);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		if (matches[i].symbol == SYMBOL_NONE ||
		    matches[i].symbol == symbolizer->lookup.jit_symbol)
			continue;
		r = frame_builder_replace(symbolizer->builder, &addresses[i], &matches[i], names,
					  ids[i]);
	}
	return r;
}

/* Generated code whose process has named it since, or has put other code in its place. */
static int resolve_again(struct symbolizer *symbolizer, const struct tally *tally,
			 struct names *names)
{
	own(own_free) uint32_t *ids = NULL;
	uint32_t n;
	int r = jit_again_find(&symbolizer->again, symbolizer->lookup.images, tally, names, &ids,
			       &n);

	for (uint32_t at = 0; r == 0 && at < n; at += LOOKUP_MAX)
		r = replace(symbolizer, tally, names, ids + at,
			    n - at < LOOKUP_MAX ? n - at : LOOKUP_MAX);
	return r;
}

static int resolve(struct symbolizer *symbolizer, const struct tally *tally, struct names *names,
		   struct error *err)
{
	uint32_t first = names_n_addresses(names), total = tally_n_addresses(tally);
	uint32_t batch = total - first < LOOKUP_MAX ? total - first : LOOKUP_MAX;
	own(own_free) struct symbol_match *matches = NULL;
	int r = resolve_again(symbolizer, tally, names);

	if (r < 0)
		return error_set(err, r, "cannot look up names: %s", strerror(-r));
	if (first >= total)
		return 0;
	matches = malloc(batch * sizeof(*matches));
	if (!matches)
		return error_set(err, -ENOMEM, "out of memory while looking up names");
	while (first < total) {
		const struct tally_address *addresses = tally_addresses(tally) + first;
		uint32_t n = total - first < batch ? total - first : batch;

		r = lookup_resolve(&symbolizer->lookup, addresses, n, matches);
		if (r == 0)
			r = frame_builder_add(symbolizer->builder, addresses, matches, n, names);
		if (r < 0)
			return error_set(err, r, "cannot look up names: %s", strerror(-r));
		first += n;
	}
	return 0;
}

int symbolizer_resolve(struct symbolizer *symbolizer, const struct tally *tally,
		       struct names *names, struct error *err)
{
	int r = resolve(symbolizer, tally, names, err);

	/* The memory that they share is needed: a report comes next. */
	confined_retire(symbolizer->lookup.readers);
	if (symbolizer->lookup.inlines)
		inlines_rest(symbolizer->lookup.inlines);
	return r;
}
