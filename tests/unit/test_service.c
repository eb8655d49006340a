// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "view/service.h"

#define REST "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID   "0" REST

static void cgroups(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "/system.slice/nginx.service", "nginx" },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.service",
		  "app-x" },
		{ "/user.slice/user-1000.slice/session-3.scope", "session-3" },
		{ "/system.slice/dev-disk\\x2dby.service", "dev-disk-by" },
		{ "/system.slice/a\\x0ab.service", "a\\x0ab" },
		{ "/system.slice/docker-" ID ".scope", "0123456789ab" },
		{ "/docker/" ID, "0123456789ab" },
		{ "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope",
		  "0123456789ab" },
		{ "/kubepods/burstable/pod1/" ID, "0123456789ab" },
		{ "/machine.slice/libpod-" ID ".scope/container", "0123456789ab" },
		{ "/machine.slice/libpod-" ID ".scope/init.service", "init" },
		{ "/machine.slice/libpod-" ID ".scope/init.scope", "0123456789ab" },
		/* What a container calls its own groups does not make it another one. */
		{ "/system.slice/docker-" ID ".scope/docker-f" REST ".scope", "0123456789ab" },
		{ "/lxc.payload.web/system.slice/nginx.service", "nginx" },
		{ "/lxc.payload.web/init.scope", "web" },
		{ "/machine.slice/systemd-nspawn@web.service/payload", "web" },
		{ "/system.slice/a0123-" ID "0.scope", "a0123-" ID "0" },
		{ "/lxc/web", "web" },
		{ "/system.slice", SERVICE_UNKNOWN },
		{ "/", SERVICE_UNKNOWN },
		{ "", SERVICE_UNKNOWN },
		{ NULL, SERVICE_UNKNOWN },
		{ "/.service", ".service" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct service service;

		service_of_cgroup(cases[i].path ? &(struct names_cgroup){ .path = cases[i].path }
						: NULL,
				  &service);
		assert_string_equal(service.name, cases[i].name);
	}
}

static void long_names(void **state)
{
	char path[400] = "/system.slice/";
	struct service service;

	(void)state;
	memset(path + 14, 'x', 300);
	strcpy(path + 314, ".service");
	service_of_cgroup(&(struct names_cgroup){ .path = path }, &service);
	assert_int_equal(strlen(service.name), SERVICE_NAME_SIZE - 1);
}

static void services_of_a_profile(void **state)
{
	const struct names_label web[] = { { LABEL_CONTAINER_NAME, "web" },
					   { LABEL_CONTAINER_ID, ID } };
	const struct names_cgroup known[] = { { 3, "/system.slice/a.service", NULL, 0 },
					      { 5, "/system.slice/b.service", NULL, 0 },
					      { 7, "/docker/" ID, web, 2 },
					      { 9, "/user.slice/a.service", NULL, 0 } };
	const struct tally_entry entries[] = { { .cgroup = 9 }, { .cgroup = 3 }, { .cgroup = 5 },
					       { .cgroup = 4 }, { .cgroup = 0 }, { .cgroup = 7 } };
	const struct profile profile = {
		.cgroups = known, .n_cgroups = 4, .entries = entries, .n_entries = 6
	};
	const struct report_label label = { "service.name", "all" };
	const struct report_options named = { .labels = &label, .n_labels = 1 }, plain = { 0 };
	struct services services;

	(void)state;
	assert_int_equal(services_find(&profile, &plain, &services), 0);
	assert_int_equal(services.n, 4);
	assert_string_equal(services.list[services.of_entry[0]].name, "a");
	assert_string_equal(services.list[services.of_entry[1]].name, "a");
	assert_string_equal(services.list[services.of_entry[2]].name, "b");
	assert_string_equal(services.list[services.of_entry[3]].name, SERVICE_UNKNOWN);
	assert_string_equal(services.list[services.of_entry[4]].name, SERVICE_UNKNOWN);
	assert_string_equal(services.list[services.of_entry[5]].name, "web");
	assert_int_equal(services.list[services.of_entry[5]].n_labels, 2);
	services_clear(&services);
	assert_int_equal(services_find(&profile, &named, &services), 0);
	assert_int_equal(services.n, 2); /* one is in a container */
	assert_string_equal(services.list[0].name, "all");
	assert_string_equal(services.list[1].name, "all");
	services_clear(&services);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups),
		cmocka_unit_test(long_names),
		cmocka_unit_test(services_of_a_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
