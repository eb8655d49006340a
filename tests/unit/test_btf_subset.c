// SPDX-License-Identifier: GPL-2.0-or-later
/* Subsets of BTF that libbpf writes, of forged BTF, and of the running kernel's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "kernel/btf_subset.h"

#define KERNEL "/sys/kernel/btf/vmlinux"

/*
 * struct outer { struct inner in; const word_t words[4]; struct other *to; union { int a; }; };
 * struct other and struct unrelated must not be in the subset.
 */
static struct btf *described(void)
{
	struct btf *btf = btf__new_empty();
	int word, inner, other, pointer, array, constant, nameless;

	assert_non_null(btf);
	assert_true(btf__add_struct(btf, "unrelated", 8) > 0);
	word = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	other = btf__add_struct(btf, "other", 4);
	assert_int_equal(btf__add_field(btf, "value", word, 0, 0), 0);
	pointer = btf__add_ptr(btf, other);
	constant = btf__add_const(btf, btf__add_typedef(btf, "word_t", word));
	array = btf__add_array(btf, word, constant, 4);
	inner = btf__add_struct(btf, "inner___v2", 4);
	assert_int_equal(btf__add_field(btf, "value", word, 0, 0), 0);
	nameless = btf__add_union(btf, NULL, 4);
	assert_int_equal(btf__add_field(btf, "a", word, 0, 0), 0);
	assert_true(btf__add_struct(btf, "outer", 40) > 0);
	assert_int_equal(btf__add_field(btf, "in", inner, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "words", array, 32, 0), 0);
	assert_int_equal(btf__add_field(btf, "to", pointer, 192, 0), 0);
	assert_int_equal(btf__add_field(btf, NULL, nameless, 256, 0), 0);
	assert_true(btf__add_enum(btf, "kind", 4) > 0);
	assert_int_equal(btf__add_enum_value(btf, "KIND_ONE", 1), 0);
	assert_true(btf__add_enum64(btf, "wide", 8, false) > 0);
	assert_int_equal(btf__add_enum64_value(btf, "WIDE_ONE", 1ull << 40), 0);
	return btf;
}

static struct btf *subset_of(const void *bytes, size_t size, const char *const *names, uint32_t n)
{
	struct btf *subset;
	size_t subset_size;
	void *copy;

	assert_int_equal(btf_subset(bytes, size, names, n, &copy, &subset_size), 0);
	subset = btf__new(copy, (uint32_t)subset_size);
	assert_non_null(subset);
	free(copy);
	return subset;
}

static struct btf *subset_of_described(const char *const *names, uint32_t n)
{
	struct btf *all = described(), *subset;
	const void *bytes;
	uint32_t size;

	bytes = btf__raw_data(all, &size);
	subset = subset_of(bytes, size, names, n);
	btf__free(all);
	return subset;
}

static int find(const struct btf *btf, const char *name)
{
	return btf__find_by_name(btf, name);
}

static const struct btf_member *member(const struct btf *btf, int id, uint32_t i)
{
	const struct btf_type *type = btf__type_by_id(btf, (uint32_t)id);

	assert_non_null(type);
	assert_true(i < btf_vlen(type));
	return btf_members(type) + i;
}

static void a_subset_has_the_types_of_members(void **state)
{
	static const char *const names[] = { "absent", "outer" };
	struct btf *subset = subset_of_described(names, 2);
	int outer = find(subset, "outer");
	const struct btf_type *type;

	(void)state;
	assert_true(outer > 0);
	assert_int_equal(btf__resolve_size(subset, (uint32_t)outer), 40);
	assert_int_equal(member(subset, outer, 0)->type, find(subset, "inner___v2"));
	type = btf__type_by_id(subset, member(subset, outer, 1)->type);
	assert_true(btf_is_array(type));
	assert_int_equal(btf_array(type)->nelems, 4);
	assert_int_equal(btf__resolve_size(subset, member(subset, outer, 1)->type), 16);
	assert_string_equal(btf__name_by_offset(subset, member(subset, outer, 2)->name_off), "to");
	assert_int_equal(member(subset, outer, 2)->offset, 192);
	type = btf__type_by_id(subset, member(subset, outer, 2)->type);
	assert_true(btf_is_ptr(type));
	assert_int_equal(type->type, 0);
	assert_int_equal(member(subset, outer, 3)->name_off, 0);
	assert_true(btf_is_union(btf__type_by_id(subset, member(subset, outer, 3)->type)));
	assert_true(find(subset, "word_t") > 0);
	assert_true(find(subset, "other") < 0);
	assert_true(find(subset, "unrelated") < 0);
	assert_true(find(subset, "kind") < 0);
	btf__free(subset);
}

static void names_are_compared_without_flavours(void **state)
{
	static const char *const names[] = { "inner___mine", "kind___1", "wide", "inn",
					     "innermost" };
	struct btf *subset = subset_of_described(names, 5);
	const struct btf_type *kind;

	(void)state;
	assert_true(find(subset, "inner___v2") > 0);
	kind = btf__type_by_id(subset, (uint32_t)find(subset, "kind"));
	assert_string_equal(btf__name_by_offset(subset, btf_enum(kind)->name_off), "KIND_ONE");
	assert_int_equal(btf_enum(kind)->val, 1);
	kind = btf__type_by_id(subset, (uint32_t)find(subset, "wide"));
	assert_int_equal(btf_enum64_value(btf_enum64(kind)), 1ull << 40);
	assert_true(find(subset, "outer") < 0);
	btf__free(subset);
	subset = subset_of_described(names + 3, 2);
	assert_int_equal(btf__type_cnt(subset), 1);
	btf__free(subset);
}

/* Cut or changed anywhere: no read past the end, which sanitizers report, and no endless loop. */
static void broken_btf_is_refused_or_read(void **state)
{
	static const char *const names[] = { "outer", "kind", "wide", "other" };
	struct btf *all = described();
	uint32_t size;
	const char *bytes = btf__raw_data(all, &size);

	(void)state;
	for (uint32_t cut = 0; cut < size; cut++) {
		char *copy = malloc(cut + !cut);
		size_t ignored;
		void *subset;

		memcpy(copy, bytes, cut);
		assert_true(btf_subset(copy, cut, names, 4, &subset, &ignored) < 0);
		free(copy);
	}
	for (uint32_t at = 0; at < size * 8; at++) {
		char *copy = malloc(size);
		size_t length;
		void *subset;

		memcpy(copy, bytes, size);
		copy[at / 8] ^= (char)(1 << at % 8);
		if (btf_subset(copy, size, names, 4, &subset, &length) == 0) {
			struct btf *parsed = btf__new(subset, (uint32_t)length);

			assert_non_null(parsed);
			btf__free(parsed);
			free(subset);
		}
		free(copy);
	}
	btf__free(all);
}

static void unknown_kinds_are_reported(void **state)
{
	static const char *const names[] = { "outer" };
	struct btf *all = described();
	uint32_t size;
	const char *bytes = btf__raw_data(all, &size);
	char *copy = malloc(size);
	struct btf_type *first = (struct btf_type *)(copy + sizeof(struct btf_header));
	size_t ignored;
	void *subset;

	(void)state;
	memcpy(copy, bytes, size);
	first->info = 31u << 24;
	assert_int_equal(btf_subset(copy, size, names, 1, &subset, &ignored), -EOPNOTSUPP);
	memcpy(copy, bytes, size);
	((struct btf_header *)copy)->magic = 0x9feb; /* the other byte order */
	assert_int_equal(btf_subset(copy, size, names, 1, &subset, &ignored), -EINVAL);
	free(copy);
	btf__free(all);
}

/* A typedef of itself, and members whose type does not exist. */
static void ids_may_lead_anywhere(void **state)
{
	static const char *const names[] = { "itself", "holder" };
	struct btf *all = btf__new_empty(), *subset;
	const void *bytes;
	size_t ignored;
	uint32_t size;
	void *copy;
	int id;

	(void)state;
	id = btf__add_typedef(all, "itself", 1);
	assert_int_equal(id, 1);
	bytes = btf__raw_data(all, &size);
	subset = subset_of(bytes, size, names, 2);
	assert_int_equal(btf__type_by_id(subset, 1)->type, 1);
	btf__free(subset);
	assert_true(btf__add_struct(all, "holder", 4) > 0);
	assert_int_equal(btf__add_field(all, "missing", 77, 0, 0), 0);
	bytes = btf__raw_data(all, &size);
	assert_int_equal(btf_subset(bytes, size, names, 2, &copy, &ignored), -EINVAL);
	btf__free(all);
}

/* Each member has the offset and size that the whole BTF gives it. */
static void assert_same(const struct btf *all, const struct btf *subset, const char *name)
{
	int there = btf__find_by_name_kind(all, name, BTF_KIND_STRUCT);
	int here = btf__find_by_name_kind(subset, name, BTF_KIND_STRUCT);
	const struct btf_type *type;

	assert_true(there > 0 && here > 0);
	type = btf__type_by_id(all, (uint32_t)there);
	assert_int_equal(btf_vlen(btf__type_by_id(subset, (uint32_t)here)), btf_vlen(type));
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *is = member(subset, here, i);
		const struct btf_member *was = member(all, there, i);

		assert_string_equal(btf__name_by_offset(subset, is->name_off),
				    btf__name_by_offset(all, was->name_off));
		assert_int_equal(is->offset, was->offset);
		assert_int_equal(btf__resolve_size(subset, is->type),
				 btf__resolve_size(all, was->type));
	}
}

static void the_running_kernel_has_a_subset(void **state)
{
	static const char *const names[] = { "task_struct", "signal_struct", "mm_struct", "upid" };
	struct btf *all = btf__parse(KERNEL, NULL), *subset;
	const void *bytes;
	uint32_t size;

	(void)state;
	if (!all) {
		print_message("the running kernel has no BTF\n");
		skip();
	}
	bytes = btf__raw_data(all, &size);
	subset = subset_of(bytes, size, names, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_same(all, subset, names[i]);
	btf__raw_data(subset, &size);
	assert_in_range(btf__type_cnt(subset), 100, btf__type_cnt(all) / 20);
	assert_in_range(size, 1000, 200000);
	btf__free(subset);
	btf__free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_subset_has_the_types_of_members),
		cmocka_unit_test(names_are_compared_without_flavours),
		cmocka_unit_test(broken_btf_is_refused_or_read),
		cmocka_unit_test(unknown_kinds_are_reported),
		cmocka_unit_test(ids_may_lead_anywhere),
		cmocka_unit_test(the_running_kernel_has_a_subset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
