// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/hang.h"

#define DEBIAN(level) "#1 SMP PREEMPT_DYNAMIC Debian " level " (2026-01-01)"
#define PLAIN	      "#1 SMP PREEMPT_DYNAMIC"

struct machine {
	const char *release, *version, *signature;
	enum hang_risk risk;
	const char *level;
};

static const struct machine machines[] = {
	/* Debian names its kernels by ABI; the patch level is in uname -v. */
	{ "6.1.0-39-amd64", DEBIAN("6.1.148-1"), NULL, HANG_SAFE, "6.1.148" },
	{ "6.1.0-9-amd64", DEBIAN("6.1.27-1"), NULL, HANG_AFFECTED, "6.1.27" },
	{ "5.10.0-36-amd64", DEBIAN("5.10.244-1"), NULL, HANG_SAFE, "5.10.244" },
	{ "6.12.48+deb13-amd64", DEBIAN("6.12.48-1"), NULL, HANG_SAFE, "6.12.48" },
	/* Ubuntu names its stable release, not its own backports. */
	{ "6.2.0-26-generic", PLAIN, "Ubuntu 6.2.0-26.26~22.04.1-generic 6.2.13", HANG_DOUBT,
	  "6.2.13" },
	{ "5.15.0-91-generic", PLAIN, "Ubuntu 5.15.0-91.101-generic 5.15.131", HANG_SAFE,
	  "5.15.131" },
	{ "5.19.0-50-generic", PLAIN, "Ubuntu 5.19.0-50.50-generic 5.19.17", HANG_DOUBT,
	  "5.19.17" },
	/* Enterprise kernels keep a version and backport fixes. */
	{ "5.14.0-427.el9.x86_64", PLAIN, NULL, HANG_SAFE, "5.14.0" },
	{ "6.1.20-30.amzn2023.x86_64", PLAIN, NULL, HANG_DOUBT, "6.1.20" },
	/* Upstream. */
	{ "5.18.19", PLAIN, NULL, HANG_SAFE, "5.18.19" },
	{ "5.19.1", PLAIN, NULL, HANG_AFFECTED, "5.19.1" },
	{ "6.0.12", PLAIN, NULL, HANG_AFFECTED, "6.0.12" },
	{ "6.1.35", PLAIN, NULL, HANG_AFFECTED, "6.1.35" },
	{ "6.1.36", PLAIN, NULL, HANG_SAFE, "6.1.36" },
	{ "6.2.16", PLAIN, NULL, HANG_AFFECTED, "6.2.16" },
	{ "6.3.9", PLAIN, NULL, HANG_AFFECTED, "6.3.9" },
	{ "6.3.10", PLAIN, NULL, HANG_SAFE, "6.3.10" },
	{ "6.4.0", PLAIN, NULL, HANG_SAFE, "6.4.0" },
	{ "6.18.44-fc", PLAIN, "", HANG_SAFE, "6.18.44" },
	{ "7.2.13+deb14-amd64", DEBIAN("7.2.13-1"), NULL, HANG_SAFE, "7.2.13" },
};

static void the_patch_level_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct machine *machine = &machines[i];
		char level[32] = "";

		print_message("%s\n", machine->release);
		assert_int_equal(hang_risk(machine->release, machine->version, machine->signature,
					   level),
				 machine->risk);
		assert_string_equal(level, machine->level);
	}
}

static void other_texts_count_as_safe(void **state)
{
	(void)state;
	assert_int_equal(hang_risk("", "", NULL, NULL), HANG_SAFE);
	assert_int_equal(hang_risk("six.one", "Debian unstable", "Ubuntu", NULL), HANG_SAFE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_patch_level_decides),
		cmocka_unit_test(other_texts_count_as_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
