// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tally/cgroup_path.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "01234567-89ab-cdef-0123-456789abcdef"
#define LOW "01234567_89ab_cdef_0123_456789abcdef"
#define SUM "0123456789abcdef0123456789abcdef"

static void pods_of_kubernetes(void **state)
{
	static const struct {
		const char *path, *pod_uid, *container;
	} cases[] = {
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" LOW
		  ".slice/cri-containerd-" ID ".scope",
		  UID, ID },
		{ "/kubepods.slice/kubepods-pod" LOW ".slice/crio-" ID ".scope", UID, ID },
		{ "/kubepods/besteffort/pod" UID "/" ID, UID, ID },
		{ "/kubepods/pod" SUM "/" ID, SUM, ID },
		{ "/kubepods.slice/kubepods-pod" LOW ".slice", UID, "" },
		{ "/kubepods/pod" UID "0/" ID, "", ID },
		{ "/kubepods/pod1/" ID, "", ID },
		{ "/kubepods/pod", "", "" },
		/* Below a container, names are its own. */
		{ "/docker/" ID "/kubepods/pod" UID, "", ID },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		  ".scope/container",
		  "", ID },
		{ "/machine.slice/libpod-conmon-" ID ".scope", "", "" },
		{ "//pod//", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_path path;

		cgroup_path_read(cases[i].path, &path);
		assert_string_equal(path.pod_uid, cases[i].pod_uid);
		assert_string_equal(path.container, cases[i].container);
	}
}

/* Podman's pods are no containers, however their cgroups are called. */
static void pods_of_podman(void **state)
{
	static const struct {
		const char *path, *pod, *container;
	} cases[] = {
		{ "/libpod_parent/" POD "/libpod-" ID, POD, ID },
		{ "/libpod_parent/libpod-" ID, "", ID },
		{ "/libpod_parent/" POD, POD, "" },
		{ "/machine.slice/machine-libpod_pod_" POD ".slice/libpod-" ID ".scope/container",
		  POD, ID },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/user-libpod_pod_" POD
		  ".slice/libpod-" ID ".scope",
		  POD, ID },
		/* What is below a container is its own. */
		{ "/docker/" ID "/machine-libpod_pod_" POD ".slice/libpod-" POD, "", ID },
		{ "/docker/" ID "/libpod_parent/" POD "/libpod-" POD, "", ID },
		{ "/x/libpod_parent/" ID "/libpod-" POD, "", ID },
		{ "/machine.slice/machine-libpod_pod_" POD, "", "" },
		{ "/machine.slice/machine-libpod_pod_0.slice", "", "" },
		{ "/libpod_parent/", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_path path;

		cgroup_path_read(cases[i].path, &path);
		assert_string_equal(path.pod, cases[i].pod);
		assert_string_equal(path.container, cases[i].container);
	}
}

/* Who owns what `size` ends with is asked for; the runtime says which files to look for first. */
static void who_says_so(void **state)
{
	static const struct {
		const char *path, *below, *runtime;
	} cases[] = {
		{ "/system.slice/docker-" ID ".scope", "", "docker" },
		{ "/docker/" ID, "/a/b", "docker" },
		{ "/kubepods.slice/kubepods-pod" LOW ".slice/cri-containerd-" ID ".scope", "",
		  "cri-containerd" },
		{ "/kubepods.slice/kubepods-pod" LOW ".slice", "/x", "" },
		{ "/machine.slice/libpod-" ID ".scope", "/container", "libpod" },
		{ "/libpod_parent/" POD "/libpod-" ID, "/docker-" POD ".scope", "libpod" },
		{ "/libpod_parent/" POD, "", "" },
		{ "/system.slice/x:docker:" ID, "/kubepods/pod" UID, "x:docker" },
		{ "/" ID, "", "" },
		{ "/0123456789012345678901234567890123456789/" ID, "", "" }, /* no runtime's */
		{ "/lxc.payload.web", "/system.slice/nginx.service", "" },
		{ "", "/system.slice/nginx.service", "" },
		{ "", "/user.slice/user-1000.slice/session-3.scope", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_path path;
		char whole[600];

		snprintf(whole, sizeof(whole), "%s%s", cases[i].path, cases[i].below);
		cgroup_path_read(whole, &path);
		assert_int_equal(path.size, strlen(cases[i].path));
		assert_string_equal(path.runtime, cases[i].runtime);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_of_kubernetes),
		cmocka_unit_test(pods_of_podman),
		cmocka_unit_test(who_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
