/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report formats, in the order of --help; the first is the default. A new format is a line
 * here and a file, report/<id>.c, which defines `<id>_writer` with this name.
 *
 * A list of macros, so that help and completion have the names without linking any writer.
 */
#ifndef STACKTALLY_REPORT_FORMATS_H
#define STACKTALLY_REPORT_FORMATS_H

/* Expands FIRST(id, name), then NEXT(id, name) for each format but the last, then LAST. */
#define REPORT_FORMATS(FIRST, NEXT, LAST)                                                          \
	FIRST(text, "text")                                                                        \
	NEXT(top, "top")                                                                           \
	NEXT(csv, "csv")                                                                           \
	NEXT(tsv, "tsv")                                                                           \
	NEXT(folded, "folded")                                                                     \
	NEXT(svg, "svg")                                                                           \
	NEXT(html, "html")                                                                         \
	NEXT(pprof, "pprof")                                                                       \
	NEXT(speedscope, "speedscope")                                                             \
	NEXT(firefox, "firefox")                                                                   \
	NEXT(json, "json")                                                                         \
	NEXT(perf_script, "perf-script")                                                           \
	LAST(recording, "recording")

#endif
