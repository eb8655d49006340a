// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tally/cgroup_path.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "01234567-89ab-cdef-0123-456789abcdef"
#define LOW "01234567_89ab_cdef_0123_456789abcdef"
#define SUM "0123456789abcdef0123456789abcdef"

static void pods_and_users(void **state)
{
	static const struct {
		const char *path, *pod_uid, *container;
		int64_t user;
	} cases[] = {
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" LOW
		  ".slice/cri-containerd-" ID ".scope",
		  UID, ID, -1 },
		{ "/kubepods.slice/kubepods-pod" LOW ".slice/crio-" ID ".scope", UID, ID, -1 },
		{ "/kubepods/besteffort/pod" UID "/" ID, UID, ID, -1 },
		{ "/kubepods/pod" SUM "/" ID, SUM, ID, -1 },
		{ "/kubepods.slice/kubepods-pod" LOW ".slice", UID, "", -1 },
		{ "/kubepods/pod" UID "0/" ID, "", ID, -1 },
		{ "/kubepods/pod1/" ID, "", ID, -1 },
		{ "/kubepods/pod", "", "", -1 },
		/* Below a container, names are its own. */
		{ "/docker/" ID "/kubepods/pod" UID, "", ID, -1 },
		{ "/docker/" ID "/user-7.slice", "", ID, -1 },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		  ".scope/container",
		  "", ID, 1000 },
		{ "/user.slice/user-1000.slice/user-0.slice", "", "", 1000 },
		{ "/user.slice/user-x.slice", "", "", -1 },
		{ "/machine.slice/libpod-conmon-" ID ".scope", "", "", -1 },
		{ "//pod//", "", "", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_path path;

		cgroup_path_read(cases[i].path, &path);
		assert_string_equal(path.pod_uid, cases[i].pod_uid);
		assert_string_equal(path.container, cases[i].container);
		assert_true(path.user == cases[i].user);
	}
}

/* Podman's pods are no containers, however their cgroups are called. */
static void pods_of_podman(void **state)
{
	static const struct {
		const char *path, *pod, *container;
		int64_t user;
	} cases[] = {
		{ "/libpod_parent/" POD "/libpod-" ID, POD, ID, -1 },
		{ "/libpod_parent/libpod-" ID, "", ID, -1 },
		{ "/libpod_parent/" POD, POD, "", -1 },
		{ "/machine.slice/machine-libpod_pod_" POD ".slice/libpod-" ID ".scope/container",
		  POD, ID, -1 },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/user-libpod_pod_" POD
		  ".slice/libpod-" ID ".scope",
		  POD, ID, 1000 },
		/* What is below a container is its own. */
		{ "/docker/" ID "/machine-libpod_pod_" POD ".slice/libpod-" POD, "", ID, -1 },
		{ "/docker/" ID "/libpod_parent/" POD "/libpod-" POD, "", ID, -1 },
		{ "/x/libpod_parent/" ID "/libpod-" POD, "", ID, -1 },
		{ "/machine.slice/machine-libpod_pod_" POD, "", "", -1 },
		{ "/machine.slice/machine-libpod_pod_0.slice", "", "", -1 },
		{ "/libpod_parent/", "", "", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_path path;

		cgroup_path_read(cases[i].path, &path);
		assert_string_equal(path.pod, cases[i].pod);
		assert_string_equal(path.container, cases[i].container);
		assert_true(path.user == cases[i].user);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_and_users),
		cmocka_unit_test(pods_of_podman),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
