/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#include <linux/ptrace.h>
