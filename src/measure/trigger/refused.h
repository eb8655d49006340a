/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages about probes and tracefs files that the kernel refuses.
 */
#ifndef STACKTALLY_TRIGGER_REFUSED_H
#define STACKTALLY_TRIGGER_REFUSED_H

#include "base/error.h"

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* internal to Linux, but perf and BPF return it: it cannot be probed */
#endif

/*
 * Fills `err` and returns `code`, a negative errno. `format` says what was refused; the reason,
 * the remedy and the exit class follow from the errno.
 */
int refused(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for reading a file that only root may read, such as those of tracefs. */
int refused_file(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
