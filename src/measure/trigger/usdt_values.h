/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arguments of USDT probes as values of their events. */
#ifndef STACKTALLY_TRIGGER_USDT_VALUES_H
#define STACKTALLY_TRIGGER_USDT_VALUES_H

#include "trigger/sites.h"

/*
 * Adds those that all sites have: arg1 to arg12. A compiler has an argument wherever it is at a
 * site, and where the sites differ, the value is by site. Left out are those that a site has in a
 * place that is not understood, and those of two sites that differ while their addresses end alike.
 * 0 or -ENOMEM.
 */
int usdt_values_add(struct sites *sites);

#endif
