// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "view/facts.h"

/* The text of one fact, in `said`. */
struct asked {
	const char *name;
	char said[400];
};

static void listen(void *context, const char *name, const char *text)
{
	struct asked *asked = context;

	if (strcmp(name, asked->name) == 0)
		snprintf(asked->said, sizeof(asked->said), "%s", text);
}

static void tells(const struct profile *profile, const char *name, const char *text)
{
	struct asked asked = { .name = name };

	facts_each(profile, listen, &asked);
	assert_string_equal(asked.said, text);
}

static void losses_are_told_if_there_are_any(void **state)
{
	const struct profile_meta meta = { .command = "profile" };
	struct tally_losses losses = { .events = 5 };
	struct profile profile = { .meta = &meta, .losses = &losses, .total = 5 };

	(void)state;
	tells(&profile, "lost", "nothing");
	losses.throttled = 3;
	tells(&profile, "lost", "throttled 3 times");
	losses = (struct tally_losses){
		.lost_ring = 1, .lost_counts = 2, .lost_nested = 4, .unseen = 8
	};
	profile.missed_counts = 16;
	tells(&profile, "lost",
	      "7 in all, ring full 1, counts full 2, nested 4, stacks missed in 16, not seen 8 of "
	      "any process");
}

static void assumptions_are_told_if_there_are_any(void **state)
{
	const struct profile_meta meta = { .command = "profile" };
	const struct tally_losses losses = { 0 };
	struct profile profile = { .meta = &meta,
				   .losses = &losses,
				   .ends = { .samples = 8, .complete = 6 } };

	(void)state;
	tells(&profile, "user stacks", "8, 75.00 % complete");
	profile.ends.assumed = 2;
	tells(&profile, "user stacks",
	      "8, 75.00 % complete; in 2 a register was taken to be unchanged by a function "
	      "called");
}

static void counts_are_samples_or_events(void **state)
{
	struct profile_meta meta = { .command = "profile" };
	const struct tally_losses losses = { 0 };
	const struct profile profile = { .meta = &meta, .losses = &losses, .total = 5 };

	(void)state;
	tells(&profile, "samples", "5");
	tells(&profile, "events", "");
	meta.command = "stackcount";
	tells(&profile, "samples", "");
	tells(&profile, "events", "5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_told_if_there_are_any),
		cmocka_unit_test(assumptions_are_told_if_there_are_any),
		cmocka_unit_test(counts_are_samples_or_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
