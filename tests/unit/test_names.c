// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tally/names.h"

static void frames_follow_their_addresses(void **state)
{
	struct names *names = NULL;
	struct names_frame frames[NAMES_MAX_INLINED + 1] = { 0 };
	const char *text;

	(void)state;
	assert_int_equal(names_new(&names), 0);
	text = names_string(names, "main");
	assert_ptr_equal(names_string(names, "main"), text);
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		frames[i] = (struct names_frame){ .name = text, .offset = i, .object = NAMES_NONE };
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(names_add_address(names, frames, 1 + i % 3), 0);
	assert_int_equal(names_n_addresses(names), 300);
	assert_int_equal(names_n_frames(names), 600);
	for (uint32_t i = 0, first = 0; i < 300; first += 1 + i++ % 3) {
		assert_int_equal(names_address(names, i).first, first);
		assert_int_equal(names_address(names, i).n, 1 + i % 3);
		assert_int_equal(names_frame(names, first).offset, 0);
	}
	assert_int_equal(names_add_address(names, frames, 0), -EINVAL);
	assert_int_equal(names_add_address(names, frames, NAMES_MAX_INLINED + 1), -E2BIG);
	assert_int_equal(names_add_address(names, frames, NAMES_MAX_INLINED), 0);
	frames[0].object = 0;
	assert_int_equal(names_add_address(names, frames, 1), -EINVAL);
	assert_int_equal(names_n_addresses(names), 301);
	names_free(names);
	names_free(NULL);
}

/* Code that a runtime names after it was sampled gets its name then. */
static void a_frame_is_replaced(void **state)
{
	struct names *names = NULL;
	struct names_frame two[2] = { { .object = NAMES_NONE }, { .object = NAMES_NONE } };
	struct names_frame jit = { .object = NAMES_NONE, .flags = NAMES_FRAME_JIT }, named;

	(void)state;
	assert_int_equal(names_new(&names), 0);
	jit.name = names_string(names, "[jit]");
	two[0].name = two[1].name = names_string(names, "inlined");
	assert_int_equal(names_add_address(names, &jit, 1), 0);
	assert_int_equal(names_add_address(names, two, 2), 0);
	assert_int_equal(names_add_address(names, &jit, 1), 0);
	named = jit;
	named.name = names_string(names, "compiled");
	named.offset = 0x100000003;
	assert_int_equal(names_replace_frame(names, 2, &named), 0);
	assert_string_equal(names_frame(names, names_address(names, 2).first).name, "compiled");
	assert_true(names_frame(names, names_address(names, 2).first).offset == 0x100000003);
	assert_string_equal(names_frame(names, names_address(names, 0).first).name, "[jit]");
	assert_int_equal(names_replace_frame(names, 1, &named), -EINVAL);
	assert_int_equal(names_replace_frame(names, 3, &named), -EINVAL);
	named.object = 0;
	assert_int_equal(names_replace_frame(names, 0, &named), -EINVAL);
	assert_int_equal(names_n_addresses(names), 3);
	names_free(names);
}

static void objects_are_checked(void **state)
{
	struct names *names = NULL;
	struct names_object object = { .build_id_size = NAMES_BUILD_ID_SIZE + 1 };
	uint32_t index = 9;

	(void)state;
	assert_int_equal(names_new(&names), 0);
	object.path = names_string(names, "/bin/true");
	assert_int_equal(names_add_object(names, &object, &index), -EINVAL);
	object.build_id_size = NAMES_BUILD_ID_SIZE;
	object.path = NULL;
	assert_int_equal(names_add_object(names, &object, &index), -EINVAL);
	assert_int_equal(index, 9);
	object.path = names_string(names, "/bin/true");
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(names_add_object(names, &object, &index), 0);
		assert_int_equal(index, i);
	}
	assert_string_equal(names_objects(names)[99].path, "/bin/true");
	names_free(names);
}

static void cgroups_are_sorted(void **state)
{
	struct names *names = NULL;

	(void)state;
	assert_int_equal(names_new(&names), 0);
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(names_add_cgroup(names,
						  &(struct names_cgroup){ .id = i * 77 % 200,
									  .path = "/first" }),
				 0);
	assert_int_equal(names_add_cgroup(names,
					  &(struct names_cgroup){ .id = 5, .path = "/second" }),
			 0);
	assert_int_equal(names_n_cgroups(names), 200);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(names_cgroups(names)[i].id, i);
	assert_string_equal(names_cgroups(names)[5].path, "/first");
	names_free(names);
}

static void labels_of_a_cgroup_may_come_later(void **state)
{
	static const struct names_label labels[] = { { "k8s.pod.uid", "1" },
						     { "k8s.pod.name", "shop" } };
	struct names *names = NULL;

	(void)state;
	assert_int_equal(names_new(&names), 0);
	for (uint32_t n = 0; n <= 2; n++) {
		const struct names_cgroup cgroup = { 7, "/shop", labels, n };

		assert_int_equal(names_add_cgroup(names, &cgroup), 0);
		assert_int_equal(names_cgroups(names)[0].n_labels, n);
	}
	assert_int_equal(names_add_cgroup(names, &(struct names_cgroup){ 7, "/shop", labels, 1 }),
			 0);
	assert_string_equal(names_cgroup_label(names_cgroups(names), "k8s.pod.name"), "shop");
	names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_follow_their_addresses),
		cmocka_unit_test(a_frame_is_replaced),
		cmocka_unit_test(objects_are_checked),
		cmocka_unit_test(cgroups_are_sorted),
		cmocka_unit_test(labels_of_a_cgroup_may_come_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
