// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/shares.h"

#include <errno.h>
#include <pthread.h>

#include "base/grow.h"

#define ROOT 0

/* An owner other than root. */
struct share {
	uid_t owner;
	uint32_t taken;
};

struct shares {
	uint32_t most_own, most_users;
	pthread_mutex_t lock;  /* guards all below */
	struct share *of_each; /* of those who have taken something */
	uint32_t n, capacity;
	uint32_t users; /* what all of them have taken */
};

int shares_new(uint32_t total, struct shares **ret_shares)
{
	struct shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return -ENOMEM;
	pthread_mutex_init(&shares->lock, NULL);
	shares->most_own = total / 2;
	shares->most_users = total - total / 4;
	*ret_shares = shares;
	return 0;
}

void shares_free(struct shares *shares)
{
	if (!shares)
		return;
	pthread_mutex_destroy(&shares->lock);
	free(shares->of_each);
	free(shares);
}

/* The share of an owner who has taken something, or NULL; the lock is held. */
static struct share *find(const struct shares *shares, uid_t owner)
{
	for (uint32_t i = 0; i < shares->n; i++) {
		if (shares->of_each[i].owner == owner)
			return &shares->of_each[i];
	}
	return NULL;
}

static uint32_t lack_of(uint32_t most, uint32_t taken, uint32_t n)
{
	uint64_t wanted = (uint64_t)taken + n;

	return wanted > most ? (uint32_t)(wanted - most) : 0;
}

/* The lock is held. */
static struct shares_lack lack(const struct shares *shares, uid_t owner, uint32_t n)
{
	const struct share *share = find(shares, owner);

	if (owner == ROOT)
		return (struct shares_lack){ 0 };
	return (struct shares_lack){
		.own = lack_of(shares->most_own, share ? share->taken : 0, n),
		.users = lack_of(shares->most_users, shares->users, n),
	};
}

struct shares_lack shares_lack(struct shares *shares, uid_t owner, uint32_t n)
{
	struct shares_lack now;

	pthread_mutex_lock(&shares->lock);
	now = lack(shares, owner, n);
	pthread_mutex_unlock(&shares->lock);
	return now;
}

/* The lock is held. */
static int take(struct shares *shares, uid_t owner, uint32_t n)
{
	const struct shares_lack lacks = lack(shares, owner, n);
	struct share *share = find(shares, owner);

	if (lacks.own || lacks.users)
		return -ENOSPC;
	if (!share) {
		if (grow(&shares->of_each, &shares->capacity, shares->n + 1) < 0)
			return -ENOMEM;
		share = &shares->of_each[shares->n++];
		*share = (struct share){ .owner = owner };
	}
	share->taken += n;
	shares->users += n;
	return 0;
}

int shares_take(struct shares *shares, uid_t owner, uint32_t n)
{
	int r;

	if (owner == ROOT || n == 0)
		return 0;
	pthread_mutex_lock(&shares->lock);
	r = take(shares, owner, n);
	pthread_mutex_unlock(&shares->lock);
	return r;
}

void shares_give(struct shares *shares, uid_t owner, uint32_t n)
{
	struct share *share;

	if (owner == ROOT || n == 0)
		return;
	pthread_mutex_lock(&shares->lock);
	share = find(shares, owner);
	share->taken -= n;
	shares->users -= n;
	if (share->taken == 0)
		*share = shares->of_each[--shares->n];
	pthread_mutex_unlock(&shares->lock);
}
