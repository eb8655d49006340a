/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of files that --from and --diff read beside recordings, in the order in which they are
 * tried: those that only their structure tells come last. A new kind is a line here and a file that
 * defines `<id>_kind`, a struct import_kind.
 */
#ifndef STACKTALLY_IMPORT_KINDS_H
#define STACKTALLY_IMPORT_KINDS_H

#define IMPORT_KINDS(KIND)                                                                         \
	KIND(jfr)                                                                                  \
	KIND(speedscope)                                                                           \
	KIND(firefox)                                                                              \
	KIND(others)                                                                               \
	KIND(pprof)                                                                                \
	KIND(perf)                                                                                 \
	KIND(folded)

#endif
