/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/frame_builder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "symbolize/address.h"
#include "symbolize/script_frames.h"
#include "symbolize/vdso.h"

/* The module of the last mapping: consecutive addresses are mostly in the same one. */
struct last_module {
	const char *mapping_name, *module;
	const char *identity; /* "[MODULE]"; NULL until needed */
};

struct frame_builder {
	const struct images *images;
	struct symbol_cache *cache;
	struct kernel_names *kernel;
	const struct inlines *inlines;
	struct scripts *scripts;
	bool file_addresses;
	const struct names *names; /* those that the objects were added to */
	uint32_t n_named;	   /* how many addresses they had after the last call */
	uint32_t *file_objects;	   /* by file id: index of its object, or NAMES_NONE */
	uint32_t n_files, capacity;
	uint32_t kernel_object, vdso_object;
	struct last_module last;
};

int frame_builder_new(const struct images *images, struct symbol_cache *cache,
		      struct kernel_names *kernel, const struct inlines *inlines,
		      struct scripts *scripts, bool file_addresses,
		      struct frame_builder **ret_builder)
{
	struct frame_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return -ENOMEM;
	builder->images = images;
	builder->cache = cache;
	builder->kernel = kernel;
	builder->inlines = inlines;
	builder->scripts = scripts;
	builder->file_addresses = file_addresses;
	builder->kernel_object = builder->vdso_object = NAMES_NONE;
	*ret_builder = builder;
	return 0;
}

void frame_builder_free(struct frame_builder *builder)
{
	if (!builder)
		return;
	free(builder->file_objects);
	free(builder);
}

/* Adds elements for the files that are new. */
static int add_files(struct frame_builder *builder)
{
	uint32_t n_files = images_n_files(builder->images);
	int r = grow(&builder->file_objects, &builder->capacity, n_files);

	if (r < 0)
		return r;
	while (builder->n_files < n_files)
		builder->file_objects[builder->n_files++] = NAMES_NONE;
	return 0;
}

/* Shares the strings of the symbols; forgets the objects of other names. */
static int begin_names(struct frame_builder *builder, struct names *names)
{
	if (names != builder->names || names_n_addresses(names) != builder->n_named) {
		builder->n_files = 0;
		builder->kernel_object = builder->vdso_object = NAMES_NONE;
		builder->last = (struct last_module){ 0 };
	}
	builder->names = names;
	return names_share_strings(names, symbol_cache_pool(builder->cache));
}

static void put_symbol(const struct frame_builder *builder, uint32_t symbol,
		       struct names_frame *frame)
{
	const struct symbol *found = symbol_cache_symbol(builder->cache, symbol);

	frame->name = found->name;
	frame->linkage_name = found->linkage_name;
	if (found->module)
		frame->module = found->module;
	frame->flags |= found->flags;
}

static int kernel_object(struct frame_builder *builder, struct names *names, uint32_t *ret_object)
{
	struct names_object object;

	if (builder->kernel_object == NAMES_NONE) {
		int r;

		kernel_names_object(builder->kernel, &object);
		object.path = names_string(names, KERNEL_OBJECT);
		if (!object.path)
			return -ENOMEM;
		r = names_add_object(names, &object, &builder->kernel_object);
		if (r < 0)
			return r;
	}
	*ret_object = builder->kernel_object;
	return 0;
}

/* What to subtract from addresses in the mapping to get those of the file. False: not known. */
static bool bias_of(const struct frame_builder *builder, const struct mapping *mapping,
		    uint64_t *ret_bias)
{
	struct load_segments segments;

	return builder->file_addresses && mapping->kind == MAPPING_FILE &&
	       images_file_segments(builder->images, mapping->file, &segments) == 0 &&
	       load_segments_bias(&segments, mapping->start, mapping->offset, ret_bias);
}

static int file_object(struct frame_builder *builder, struct names *names,
		       const struct mapping *mapping, uint32_t *ret_object)
{
	const struct mapped_file *file = images_file(builder->images, mapping->file);
	int r = mapping->file < builder->n_files ? 0 : add_files(builder);
	uint32_t *known;

	_Static_assert(BUILD_ID_MAX == NAMES_BUILD_ID_SIZE, "build-ids are copied");
	if (r < 0)
		return r;
	known = &builder->file_objects[mapping->file];
	if (*known == NAMES_NONE) {
		struct names_object object = {
			.path = names_string(names, file->path ? file->path : ""),
			.start = mapping->start,
			.end = mapping->end,
			.offset = mapping->offset,
			.build_id_size = file->build_id_size,
			.device = file->device,
			.inode = file->inode,
		};

		if (!object.path)
			return -ENOMEM;
		if (!bias_of(builder, mapping, &object.bias))
			object.bias = 0;
		memcpy(object.build_id, file->build_id, sizeof(object.build_id));
		r = names_add_object(names, &object, known);
		if (r < 0)
			return r;
	}
	*ret_object = *known;
	return 0;
}

static int vdso_object(struct frame_builder *builder, struct names *names,
		       const struct mapping *mapping, uint32_t *ret_object)
{
	if (builder->vdso_object == NAMES_NONE) {
		const struct names_object object = {
			.path = names_string(names, VDSO_MODULE),
			.start = mapping->start,
			.end = mapping->end,
		};
		int r;

		if (!object.path)
			return -ENOMEM;
		r = names_add_object(names, &object, &builder->vdso_object);
		if (r < 0)
			return r;
	}
	*ret_object = builder->vdso_object;
	return 0;
}

static int module_of(struct frame_builder *builder, struct names *names, const char *path,
		     const char **ret_module)
{
	const char *slash = strrchr(path, '/');

	if (builder->last.mapping_name != path) {
		const char *module = names_string(names, slash && slash[1] ? slash + 1 : path);

		if (!module)
			return -ENOMEM;
		builder->last = (struct last_module){ .mapping_name = path, .module = module };
	}
	*ret_module = builder->last.module;
	return 0;
}

/* Names a frame of a file after the file, if no more is known. */
static int put_identity(struct frame_builder *builder, struct names *names,
			struct names_frame *frame)
{
	struct last_module *last = &builder->last;

	if (frame->object == NAMES_NONE || frame->flags & NAMES_FRAME_KERNEL)
		return 0;
	if (!last->identity) {
		char text[NAME_MAX + 3];

		snprintf(text, sizeof(text), last->module[0] == '[' ? "%s" : "[%s]", last->module);
		last->identity = names_string(names, text);
		if (!last->identity)
			return -ENOMEM;
	}
	frame->name = last->identity;
	frame->flags |= NAMES_FRAME_IDENTITY;
	return 0;
}

/*
 * Sets the module and the object of the address, and as `base` the object's own address, from which
 * the offset is still to be subtracted.
 */
static int put_place(struct frame_builder *builder, struct names *names,
		     const struct tally_address *address, struct names_frame *frame)
{
	const struct mapping *mapping;
	uint64_t bias;
	int r = 0;

	if (address_is_kernel(address)) {
		frame->flags |= NAMES_FRAME_KERNEL;
		return kernel_object(builder, names, &frame->object);
	}
	if (address_is_vsyscall(address))
		return module_of(builder, names, VSYSCALL_MODULE, &frame->module);
	if (address->flags & TALLY_ADDRESS_CHAINED)
		frame->flags |= NAMES_FRAME_CHAINED;
	mapping = builder->images ? images_find(builder->images, address->image,
						address_to_look_up(address))
				  : NULL;
	if (!mapping)
		return 0;
	if (bias_of(builder, mapping, &bias))
		frame->base = address->address - bias;
	switch (mapping->kind) {
	case MAPPING_FILE:
		r = module_of(builder, names, mapping->name ? mapping->name : "", &frame->module);
		return r < 0 ? r : file_object(builder, names, mapping, &frame->object);
	case MAPPING_VDSO:
		r = module_of(builder, names, VDSO_MODULE, &frame->module);
		return r < 0 ? r : vdso_object(builder, names, mapping, &frame->object);
	case MAPPING_SPECIAL:
		return module_of(builder, names, mapping->name ? mapping->name : "",
				 &frame->module);
	case MAPPING_ANONYMOUS:
		break; /* its symbol has the module */
	}
	return 0;
}

/*
 * Makes the frames of the functions inlined at an address, and of the one they are in, from
 * frames[0]; returns their number.
 */
static uint32_t put_chain(const struct frame_builder *builder, uint32_t chain_number,
			  struct names_frame *frames)
{
	const struct inline_chain *chain = inlines_chain(builder->inlines, chain_number);
	const struct inline_frame *elements = inlines_frames(builder->inlines, chain);
	struct names_frame last = frames[0];

	for (uint32_t i = 0; i < chain->n; i++) {
		struct names_frame *frame = &frames[i];

		*frame = last;
		if (i + 1 < chain->n) {
			/* No offset: inlined code has no start to count from. */
			frame->name = elements[i].name;
			frame->linkage_name = elements[i].linkage_name;
			frame->offset = 0;
			frame->flags |= NAMES_FRAME_INLINED;
		}
		frame->file = elements[i].file;
		frame->line = elements[i].line;
	}
	return chain->n;
}

/* The frame of the function that contains an address. */
static int make_frame(struct frame_builder *builder, const struct tally_address *address,
		      const struct symbol_match *match, struct names *names,
		      struct names_frame *frame)
{
	int r;

	*frame = (struct names_frame){ .object = NAMES_NONE };
	r = put_place(builder, names, address, frame);
	if (r < 0)
		return r;
	if (match->symbol == SYMBOL_NONE)
		return put_identity(builder, names, frame);
	frame->offset = match->offset;
	if (frame->base)
		frame->base -= match->offset;
	put_symbol(builder, match->symbol, frame);
	return 0;
}

/* Adds the frames of one address. */
static int add_address(struct frame_builder *builder, const struct tally_address *address,
		       const struct symbol_match *match, struct names *names)
{
	struct names_frame frames[INLINES_MAX_DEPTH + 1];
	uint32_t n = 1;
	int r;

	if (address->flags & TALLY_ADDRESS_SCRIPT)
		return script_frames_add(builder->scripts, address, names);
	r = make_frame(builder, address, match, names, &frames[0]);
	if (r < 0)
		return r;
	if (match->chain != QUERY_NO_CHAIN && builder->inlines)
		n = put_chain(builder, match->chain, frames);
	return names_add_address(names, frames, n);
}

int frame_builder_replace(struct frame_builder *builder, const struct tally_address *address,
			  const struct symbol_match *match, struct names *names, uint32_t id)
{
	struct names_frame frame;
	int r = begin_names(builder, names);

	images_lock(builder->images);
	if (r == 0)
		r = make_frame(builder, address, match, names, &frame);
	images_unlock(builder->images);
	return r < 0 ? r : names_replace_frame(names, id, &frame);
}

int frame_builder_add(struct frame_builder *builder, const struct tally_address *addresses,
		      const struct symbol_match *matches, uint32_t n, struct names *names)
{
	int r = begin_names(builder, names);

	images_lock(builder->images);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = add_address(builder, &addresses[i], &matches[i], names);
	images_unlock(builder->images);
	builder->n_named = names_n_addresses(names);
	return r;
}
