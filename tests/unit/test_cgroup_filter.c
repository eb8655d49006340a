// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tally/cgroup_filter.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct names_label labels[] = { { LABEL_CONTAINER_ID, ID },
					     { LABEL_CONTAINER_NAME, "web" },
					     { LABEL_POD, "shop-1" },
					     { LABEL_NAMESPACE, "prod" } };
static const struct names_cgroup groups[] = {
	{ 1, "/system.slice/nginx.service", NULL, 0 },
	{ 2, "/system.slice/nginx.service/worker", NULL, 0 },
	{ 3, "/user.slice/user-7.slice/user@7.service/app.slice/a\\x2db.service", NULL, 0 },
	{ 4, "/system.slice/docker-" ID ".scope", labels, 4 },
	{ 5, "/system.slice/docker-" ID ".scope/nginx.service", labels, 4 },
	{ 6, "/x[1]", NULL, 0 },
	{ 7, "/", NULL, 0 },
	/* The id is not its own. */
	{ 8, "/user.slice/user-7.slice/docker-" ID ".scope", NULL, 0 },
};
#define N (sizeof(groups) / sizeof(groups[0]))

static void who_matches(void **state)
{
	static const struct {
		struct cgroup_filter filter;
		const char *ids; /* of those that match */
	} cases[] = {
		{ { 0 }, "12345678" },
		{ { .cgroup = "/" }, "12345678" },
		{ { .cgroup = "system.slice" }, "1245" },
		{ { .cgroup = "/system.slice/" }, "1245" },
		{ { .cgroup = "/system.slic" }, "" },
		{ { .cgroup = "system.slice/nginx*" }, "12" },
		{ { .cgroup = "*/nginx.service" }, "12" },
		{ { .cgroup = "*nginx.service" }, "" }, /* no wildcard stands for a slash */
		{ { .cgroup = "*/*/nginx.service" }, "5" },
		{ { .cgroup = "/x[1]" }, "6" },
		{ { .service = "nginx" }, "12" }, /* not that in the container */
		{ { .service = "nginx.service" }, "12" },
		{ { .service = "a\\x2db.service" }, "3" },
		{ { .service = "user@*" }, "3" },
		{ { .service = "nginx.slice" }, "" },
		{ { .service = "user-7.slice" }, "38" },
		{ { .container = "web" }, "45" },
		{ { .container = "w?b" }, "45" },
		{ { .container = "012345" }, "45" },
		{ { .container = ID }, "45" },
		{ { .container = ID "0" }, "" },
		{ { .container = "01234" }, "" },
		{ { .container = "123456" }, "" },
		{ { .pod = "prod/shop-1" }, "45" },
		{ { .pod = "shop-1" }, "45" },
		{ { .pod = "*/shop-*" }, "45" },
		{ { .pod = "test/shop-1" }, "" },
		{ { .container = "web", .pod = "test/*" }, "" },
		{ { .container = "web", .service = "nginx" }, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char ids[N + 1] = "", text[100];
		size_t n = 0;

		for (size_t k = 0; k < N; k++)
			if (cgroup_filter_matches(&cases[i].filter, &groups[k]))
				ids[n++] = (char)('0' + groups[k].id);
		cgroup_filter_text(&cases[i].filter, text, sizeof(text));
		if (strcmp(ids, cases[i].ids) != 0)
			fail_msg("%s: %s, not %s", text, ids, cases[i].ids);
		assert_true(cgroup_filter_matches(&cases[i].filter, NULL) == (i == 0));
	}
}

static void texts(void **state)
{
	const struct cgroup_filter filter = { .service = "a*", .pod = "p/q" };
	char text[100], small[8];

	(void)state;
	assert_true(cgroup_filter_is_given(&filter) && cgroup_filter_by_names(&filter) &&
		    cgroup_filter_is_pattern(&filter));
	assert_false(cgroup_filter_is_given(&(struct cgroup_filter){ 0 }));
	cgroup_filter_text(&filter, text, sizeof(text));
	assert_string_equal(text, "service a*, pod p/q");
	cgroup_filter_text(&filter, small, sizeof(small));
	assert_string_equal(small, "service");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_matches),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
