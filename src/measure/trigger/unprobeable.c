// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/unprobeable.h"

#include "arch/emulated.h"
#include "arch/unprobeable.h"

bool unprobeable(const uint8_t *bytes, size_t size, bool is_64)
{
	return arch_unprobeable(bytes, size, is_64);
}

bool probe_emulated(const uint8_t *bytes, size_t size)
{
	return arch_emulated(bytes, size);
}
