/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address of --live: listens there, and prints it.
 */
#ifndef STACKTALLY_RUN_LIVE_ADDRESS_H
#define STACKTALLY_RUN_LIVE_ADDRESS_H

#include "live/live.h"
#include "plan/plan.h"

/*
 * Listens at the plan's address, and prints the URL and a warning if other machines can connect.
 * The caller frees `ret_live` with live_close(). 0 or a negative errno with `err` set.
 */
int live_open_and_tell(const struct plan *plan, struct live **ret_live, struct error *err);

#endif
