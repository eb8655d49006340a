// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/process_names.h"

/* Names the process of one entry, a thread with that comm, and returns its name; NULL: none. */
static const char *name_of(struct names *names, uint32_t tgid, const char *comm)
{
	struct tally_entry entry = { .count = 1, .tgid = tgid, .kernel = TALLY_STACK_NONE };
	const uint32_t address = 0;
	const struct names_process *process;
	struct tally *tally;

	assert_int_equal(tally_new(0, 0, &tally), 0);
	strncpy(entry.comm, comm, sizeof(entry.comm) - 1);
	assert_int_equal(tally_append_address(tally, &(struct tally_address){ .address = 1 }), 0);
	assert_int_equal(tally_stack(tally, &address, 1, 0, &entry.user), 0);
	assert_int_equal(tally_add(tally, &entry), 0);
	assert_int_equal(process_names_add(tally, names), 0);
	tally_free(tally);
	process = names_process_by_tgid(names_processes(names), names_n_processes(names), tgid);
	return process ? process->comm : NULL;
}

static void a_process_has_the_name_of_its_first_thread(void **state)
{
	uint32_t own = (uint32_t)getpid();
	struct names *names;

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "server"), 0);
	assert_int_equal(names_new(&names), 0);
	assert_null(name_of(names, own, "server"));
	assert_string_equal(name_of(names, own, "exec-1"), "server");
	/* That of an earlier process with this id does not stay. */
	assert_int_equal(names_add_process(names, &(struct names_process){ own, "gone" }), 0);
	assert_string_equal(name_of(names, own, "server"), "server");
	/* Beyond the largest id that a process may have. */
	assert_null(name_of(names, 1u << 30, "ended"));
	names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_the_name_of_its_first_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
