// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tally/selection.h"

#define NONE TALLY_STACK_NONE

/* A tally and the selection from it. */
struct data {
	struct tally *tally, *part;
	struct names *names, *part_names;
};

static void add_address(struct data *data, uint32_t i)
{
	struct tally_address it = { .address = 1000 + i, .image = i < 4 ? 0 : 7 };
	char name[16];
	struct names_frame frames[2] = { 0 };
	struct names_object object = { .path = names_string(data->names, i < 4 ? "/k" : "/u") };
	uint32_t id, n = 0;

	snprintf(name, sizeof(name), "f%u", i);
	if (i == 1 || i == 4)
		assert_int_equal(names_add_object(data->names, &object, &id), 0);
	frames[n++] = (struct names_frame){ .name = names_string(data->names, name),
					    .object = i < 1 ? NAMES_NONE : i >= 4,
					    .flags = i < 4 ? NAMES_FRAME_KERNEL : 0 };
	if (i == 5) { /* the first is inlined into the second */
		frames[0].flags = NAMES_FRAME_INLINED;
		frames[n++] = (struct names_frame){ .name = names_string(data->names, "outer"),
						    .object = NAMES_NONE };
	}
	assert_int_equal(tally_address(data->tally, &it, &id), 0);
	assert_int_equal(names_add_address(data->names, frames, n), 0);
}

static uint32_t stack(struct data *data, uint32_t first, uint32_t n, uint32_t flags)
{
	uint32_t frames[8], id;

	for (uint32_t i = 0; i < n; i++)
		frames[i] = first + i;
	assert_int_equal(tally_stack(data->tally, frames, n, flags, &id), 0);
	return id;
}

static void count(struct data *data, struct tally_entry entry)
{
	assert_int_equal(tally_add(data->tally, &entry), 0);
}

static int set_up(void **state)
{
	static struct data data;
	uint32_t kernel, user, deep;

	*state = &data;
	if (tally_new(0, 0, &data.tally) < 0 || names_new(&data.names) < 0 ||
	    tally_new(0, 0, &data.part) < 0 || names_new(&data.part_names) < 0)
		return 1;
	for (uint32_t i = 0; i < 9; i++)
		add_address(&data, i);
	assert_int_equal(names_add_cgroup(data.names,
					  &(struct names_cgroup){ .id = 4, .path = "/a" }),
			 0);
	assert_int_equal(names_add_cgroup(data.names,
					  &(struct names_cgroup){ .id = 5, .path = "/a/b" }),
			 0);
	assert_int_equal(names_add_cgroup(data.names,
					  &(struct names_cgroup){ .id = 6, .path = "/ab" }),
			 0);
	kernel = stack(&data, 1, 2, 0);
	user = stack(&data, 4, 3, TALLY_STACK_ENDED(TALLY_END_COMPLETE));
	deep = stack(&data, 4, 5, TALLY_STACK_ENDED(TALLY_END_COMPLETE));
	count(&data, (struct tally_entry){ 1, 0, 0, 4, 10, 11, kernel, user, "one" });
	count(&data, (struct tally_entry){ 2, 0, 0, 5, 10, 12, NONE, deep, "one" });
	count(&data, (struct tally_entry){ 4, 0, 0, 6, 20, 20, kernel, NONE, "other" });
	count(&data, (struct tally_entry){ 8, 0, 0, 0, 30, 30, NONE, TALLY_STACK_MISSED, "once" });
	*tally_losses(data.tally) = (struct tally_losses){
		.events = 21, .lost_ring = 1, .lost_counts = 2, .lost_nested = 3, .unseen = 9
	};
	return 0;
}

static int tear_down(void **state)
{
	struct data *data = *state;

	tally_free(data->tally);
	tally_free(data->part);
	names_free(data->names);
	names_free(data->part_names);
	return 0;
}

static void select_them(struct data *data, struct selection selection)
{
	assert_int_equal(selection_make(&selection, data->tally, data->names, data->part,
					data->part_names, NULL),
			 0);
	assert_int_equal(names_n_addresses(data->part_names), tally_n_addresses(data->part));
	assert_int_equal(tally_losses_of(data->part)->events, tally_total(data->part) + 6);
	assert_int_equal(tally_losses_of(data->part)->unseen, 9);
}

static const struct tally_stack *user_stack(struct data *data, uint32_t entry)
{
	return &tally_stacks(data->part)[tally_entries(data->part)[entry].user];
}

/* The name of the n-th frame of the stack. */
static const char *name_of(struct data *data, const struct tally_stack *stack, uint32_t n)
{
	uint32_t address = tally_frames(data->part, stack)[n];

	return names_frame(data->part_names, names_address(data->part_names, address).first).name;
}

static void everything_by_default(void **state)
{
	struct data *data = *state;
	const struct selection all = { 0 };

	assert_true(selection_is_all(&all));
	select_them(data, all);
	assert_int_equal(tally_total(data->part), 15);
	assert_int_equal(tally_n_entries(data->part), 4);
	assert_int_equal(tally_n_stacks(data->part), 3);
	assert_int_equal(names_n_cgroups(data->part_names), 3);
}

static void by_process_and_thread(void **state)
{
	struct data *data = *state;
	pid_t tgids[] = { 20, 30 }, tid = 12;

	select_them(data, (struct selection){ .tgids = { tgids, 2 } });
	assert_int_equal(tally_total(data->part), 12);
	/* The selection has no address, file or cgroup of other processes. */
	assert_int_equal(tally_n_addresses(data->part), 2);
	assert_int_equal(names_n_objects(data->part_names), 1);
	assert_string_equal(names_objects(data->part_names)[0].path, "/k");
	assert_int_equal(names_n_cgroups(data->part_names), 1);
	assert_string_equal(names_cgroups(data->part_names)[0].path, "/ab");
	assert_int_equal(tally_entries(data->part)[1].user, TALLY_STACK_MISSED);
	tear_down(state);
	set_up(state);
	select_them(data, (struct selection){ .tids = { &tid, 1 } });
	assert_int_equal(tally_total(data->part), 2);
}

static void by_name(void **state)
{
	struct data *data = *state;

	select_them(data, (struct selection){ .name = "on*" });
	assert_int_equal(tally_total(data->part), 11);
	tear_down(state);
	set_up(state);
	select_them(data, (struct selection){ .name = "?ther" });
	assert_int_equal(tally_total(data->part), 4);
	tear_down(state);
	set_up(state);
	select_them(data, (struct selection){ .name = "on" });
	assert_int_equal(tally_total(data->part), 0);
}

static void by_cgroup(void **state)
{
	static const struct {
		const char *cgroup;
		uint64_t total;
	} cases[] = { { "/a", 3 }, { "/a/", 3 },   { "/a/b", 2 }, { "/ab", 4 },
		      { "/", 7 },  { "/a/bc", 0 }, { "/b", 0 } };
	struct data *data = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		select_them(data, (struct selection){ .groups.cgroup = cases[i].cgroup });
		if (tally_total(data->part) != cases[i].total)
			fail_msg("%s: %u", cases[i].cgroup, (unsigned)tally_total(data->part));
		tear_down(state);
		set_up(state);
	}
}

static void stacks_of_one_side(void **state)
{
	struct data *data = *state;

	select_them(data, (struct selection){ .no_user = true });
	assert_int_equal(tally_total(data->part), 15);
	assert_int_equal(tally_n_stacks(data->part), 1);
	for (uint32_t i = 0; i < tally_n_entries(data->part); i++)
		assert_int_equal(tally_entries(data->part)[i].user, NONE);
	tear_down(state);
	set_up(state);
	select_them(data, (struct selection){ .no_kernel = true });
	assert_int_equal(tally_n_stacks(data->part), 2);
}

static void stacks_are_cut(void **state)
{
	struct data *data = *state;
	pid_t tgid = 10;

	select_them(data, (struct selection){ .tgids = { &tgid, 1 }, .depth = 3 });
	/* The stack of five frames is cut, that of three is unchanged. */
	assert_int_equal(user_stack(data, 0)->n_frames, 3);
	assert_int_equal(user_stack(data, 0)->flags, TALLY_STACK_ENDED(TALLY_END_COMPLETE));
	assert_int_equal(user_stack(data, 1)->n_frames, 3);
	assert_int_equal(user_stack(data, 1)->flags,
			 TALLY_STACK_CUT | TALLY_STACK_ENDED(TALLY_END_DEPTH));
	assert_string_equal(name_of(data, user_stack(data, 1), 0), "f4");
	assert_string_equal(name_of(data, user_stack(data, 1), 2), "f6");
	tear_down(state);
	set_up(state);
	select_them(data, (struct selection){ .tgids = { &tgid, 1 }, .depth = 1 });
	assert_int_equal(user_stack(data, 0)->n_frames, 1);
	assert_int_equal(tally_n_stacks(data->part), 2); /* user stacks are cut to the same */
}

static void inlined_functions_are_left_out(void **state)
{
	struct data *data = *state;
	pid_t tgid = 10;

	select_them(data, (struct selection){ .tgids = { &tgid, 1 } });
	assert_string_equal(name_of(data, user_stack(data, 0), 1), "f5");
	tear_down(state);
	set_up(state);
	select_them(data, (struct selection){ .tgids = { &tgid, 1 }, .no_inlined = true });
	assert_string_equal(name_of(data, user_stack(data, 0), 1), "outer");
	assert_int_equal(names_n_frames(data->part_names), tally_n_addresses(data->part));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(everything_by_default),
		TEST(by_process_and_thread),
		TEST(by_name),
		TEST(by_cgroup),
		TEST(stacks_of_one_side),
		TEST(stacks_are_cut),
		TEST(inlined_functions_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
