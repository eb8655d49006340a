// SPDX-License-Identifier: GPL-2.0-or-later
/* The library that late_library loads. */
#include "burn.h"

void plugin_entry(uint64_t ns);

static __attribute__((noinline)) void plugin_work(uint64_t ns)
{
	burn(ns);
}

void plugin_entry(uint64_t ns)
{
	plugin_work(ns);
}
