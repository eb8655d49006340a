/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/frame_builder.h"
#include "symbolize/lookup.h"

struct symbolizer {
	struct lookup lookup;
	struct frame_builder *builder;
	bool inlines, lines;
	uint32_t n_broken_before; /* inlines_n_broken() of what was forgotten */
};

/* What is forgotten with user code. */
static int make_parts(struct symbolizer *symbolizer)
{
	struct lookup *lookup = &symbolizer->lookup;
	int r = answers_new(&lookup->answers);

	if (!r && (symbolizer->inlines || symbolizer->lines))
		r = inlines_new(answers_pool(lookup->answers), symbolizer->inlines,
				symbolizer->lines, &lookup->inlines);
	if (!r)
		r = frame_builder_new(lookup->images, lookup->answers, lookup->kernel,
				      lookup->inlines, &symbolizer->builder);
	if (!r)
		r = answers_add_symbol(lookup->answers, "[jit]", NULL, NAMES_FRAME_JIT,
				       &lookup->jit_symbol);
	return r;
}

static void free_parts(struct symbolizer *symbolizer)
{
	struct lookup *lookup = &symbolizer->lookup;

	frame_builder_free(symbolizer->builder);
	inlines_free(lookup->inlines);
	answers_free(lookup->answers);
	symbolizer->builder = NULL;
	lookup->inlines = NULL;
	lookup->answers = NULL;
}

int symbolizer_new(struct images *images, const struct symbolizer_options *options,
		   struct symbolizer **ret_symbolizer)
{
	static const struct symbolizer_options none;
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int r;

	if (!symbolizer)
		return -ENOMEM;
	if (!options)
		options = &none;
	symbolizer->lookup.images = images;
	symbolizer->lookup.places.symfs = options->symfs;
	symbolizer->lookup.places.root = options->debuginfo_root;
	symbolizer->lookup.ask_debuginfod = options->debuginfod;
	symbolizer->lookup.progress = options->progress;
	symbolizer->lookup.progress_context = options->progress_context;
	symbolizer->inlines = options->inlines;
	symbolizer->lines = options->lines;
	r = kernel_names_new(&symbolizer->lookup.kernel);
	if (!r)
		r = make_parts(symbolizer);
	if (r) {
		symbolizer_free(symbolizer);
		return r;
	}
	*ret_symbolizer = symbolizer;
	return 0;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	free_parts(symbolizer);
	debuginfod_free(symbolizer->lookup.debuginfod);
	kernel_names_free(symbolizer->lookup.kernel);
	free(symbolizer);
}

int symbolizer_forget(struct symbolizer *symbolizer)
{
	symbolizer->n_broken_before = symbolizer_n_broken_inlines(symbolizer);
	free_parts(symbolizer);
	return make_parts(symbolizer);
}

int symbolizer_ask_kernel(struct symbolizer *symbolizer, const struct kernel_lookup *asker)
{
	return kernel_names_ask(symbolizer->lookup.kernel, asker);
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

int symbolizer_resolve(struct symbolizer *symbolizer, const struct tally *tally,
		       struct names *names, struct error *err)
{
	uint32_t first = names_n_addresses(names), total = tally_n_addresses(tally);
	uint32_t room = total > first ? total - first : 0;
	own(own_free) struct answer *answers = NULL;
	int r = 0;

	if (!room)
		return 0;
	if (room > LOOKUP_MAX)
		room = LOOKUP_MAX;
	answers = malloc(room * sizeof(*answers));
	if (!answers)
		return error_set(err, -ENOMEM, "out of memory while looking up names");
	while (!r && first < total) {
		const struct tally_address *addresses = tally_addresses(tally) + first;
		uint32_t n = total - first < room ? total - first : room;

		r = lookup_answer(&symbolizer->lookup, addresses, n, answers);
		if (!r)
			r = frame_builder_add(symbolizer->builder, addresses, answers, n, names);
		first += n;
	}
	if (r)
		return error_set(err, r, "cannot look up names: %s", strerror(-r));
	return 0;
}
