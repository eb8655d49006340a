// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define MINUTE_MS UINT64_C(60000)
#define HOUR_MS	  UINT64_C(3600000)
#define LINE	  1200

void account_start(struct account *account, const struct push_options *options)
{
	const struct target *target = &options->target;
	bool v6 = strchr(target->host, ':') != NULL;

	*account = (struct account){ .options = options, .hour_ms = monotonic_ms() };
	snprintf(account->host, sizeof(account->host), "%s%s%s:%s", v6 ? "[" : "", target->host,
		 v6 ? "]" : "", target->port);
}

static uint64_t lost(const struct account *account, const struct spool *spool)
{
	const struct spool_losses *losses = spool_losses(spool);

	return account->refused + account->unanswered + account->not_kept + losses->dropped +
	       losses->unanswered;
}

void account_result(struct account *account, const struct exchange_result *result, uint64_t size,
		    const struct spool *spool)
{
	char line[LINE];

	switch (result->outcome) {
	case OUTCOME_TAKEN:
		account->taken++;
		account->taken_bytes += size;
		if (account->failing) {
			snprintf(line, sizeof(line), "push: %s takes intervals again; %u wait",
				 account->host, spool_n(spool));
			account->options->warn(line);
		}
		account->failing = false;
		return;
	case OUTCOME_LATER:
		if (!account->failing) {
			snprintf(
				line, sizeof(line),
				"WARNING: push: %s does not take intervals: %s; they are kept, and "
				"sent later",
				account->host, result->text);
			account->options->warn(line);
		}
		account->failing = true;
		return;
	case OUTCOME_REFUSED:
		account->refused++;
		break;
	case OUTCOME_UNANSWERED:
		account->unanswered++;
		break;
	}
	snprintf(account->why, sizeof(account->why), "%s", result->text);
}

/* "N REASON, " for each that is not 0. */
static void put(char line[LINE], uint64_t n, const char *reason)
{
	size_t at = strlen(line);

	if (n)
		snprintf(line + at, LINE - at, "%s%" PRIu64 " %s", at ? ", " : "", n, reason);
}

static void put_losses(const struct account *account, const struct spool *spool, char line[LINE])
{
	const struct spool_losses *losses = spool_losses(spool);

	put(line, account->refused, "refused by the engine");
	put(line, account->unanswered + losses->unanswered,
	    "sent without an answer, so that it may have them or not");
	put(line, losses->dropped, "dropped for lack of room");
	put(line, account->not_kept, "dropped for lack of memory");
}

static void tell_losses(struct account *account, const struct spool *spool, bool closing)
{
	uint64_t now = monotonic_ms(), all = lost(account, spool);
	char line[LINE] = "", counts[LINE] = "";

	if (all == account->told_lost ||
	    (!closing && account->told_ms && now - account->told_ms < MINUTE_MS))
		return;
	put_losses(account, spool, counts);
	snprintf(line, sizeof(line),
		 "WARNING: push: intervals lost since the start: %.500s%s%.250s", counts,
		 *account->why ? ": " : "", account->why);
	account->options->warn(line);
	account->told_lost = all;
	account->told_ms = now ? now : 1;
	account->why[0] = '\0';
}

static void tell_disk(struct account *account, const struct spool *spool)
{
	int disk = spool_losses(spool)->disk;
	char line[LINE];

	if (disk == account->disk)
		return;
	account->disk = disk;
	if (disk)
		snprintf(line, sizeof(line),
			 "WARNING: push: cannot write to the spool %.400s: %s; intervals wait in "
			 "memory",
			 account->options->spool, strerror(-disk));
	else
		snprintf(line, sizeof(line), "push: the spool can be written again");
	account->options->warn(line);
}

/* `unsent`: of the intervals that wait, those that the end of the run loses. */
static void tell_all(const struct account *account, const struct spool *spool, uint32_t unsent)
{
	char line[LINE], counts[LINE] = "";

	put_losses(account, spool, counts);
	put(counts, unsent, "not sent");
	snprintf(line, sizeof(line),
		 "push: %" PRIu64 " intervals sent to %s (%" PRIu64 " KB), %u wait, lost: %.500s",
		 account->taken, account->host, account->taken_bytes >> 10, spool_n(spool) - unsent,
		 *counts ? counts : "none");
	account->options->note(line);
}

void account_tell(struct account *account, const struct spool *spool, bool closing)
{
	uint64_t now = monotonic_ms();
	uint32_t memory = spool_n_in_memory(spool);
	char line[LINE];

	tell_disk(account, spool);
	tell_losses(account, spool, closing);
	if (closing && memory) {
		snprintf(line, sizeof(line),
			 "WARNING: push: %u intervals were not sent and are lost%s", memory,
			 account->options->spool ? "" : ": --spool DIR would keep them");
		account->options->warn(line);
	}
	if (!closing && now - account->hour_ms < HOUR_MS)
		return;
	account->hour_ms = now;
	tell_all(account, spool, closing ? memory : 0);
}

uint64_t account_due_ms(const struct account *account)
{
	uint64_t passed = monotonic_ms() - account->hour_ms;

	return passed < HOUR_MS ? HOUR_MS - passed : 0;
}
