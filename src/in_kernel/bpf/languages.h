/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The languages whose functions are shown in stacks: the one list that both sides, the reports and
 * the pages are made of. Pages have it through the C preprocessor, so it holds nothing but macros
 * where LANGUAGES_ONLY is defined. To add a language, add a line at the end: numbers are part of
 * the recording format. docs/interpreters.md says what else it takes.
 *
 * LANGUAGE(ID, id, TITLE, WHERE, PALETTE(...), TERMINAL(...)):
 * - WHERE its functions are: RUNS, several in place of one native frame of an evaluator, or FRAMES,
 *   each has a native frame of its own
 * - PALETTE(hue, its range, saturation, lightness, its range) of pictures, in degrees and percents
 * - TERMINAL(red, green, blue, range of each, colour where there are only 16)
 */
#ifndef STACKTALLY_BPF_LANGUAGES_H
#define STACKTALLY_BPF_LANGUAGES_H

/* clang-format off */
#define LANGUAGES(LANGUAGE, PALETTE, TERMINAL)                                                     \
	LANGUAGE(PYTHON, python, "Python", RUNS,                                                   \
		PALETTE(208, 14, 66, 68, 10), TERMINAL(112, 168, 228, 18, 0x5c5cff))               \
	LANGUAGE(PHP, php, "PHP", RUNS,                                                            \
		PALETTE(262, 18, 52, 74, 8), TERMINAL(186, 160, 224, 16, 0xcd00cd))                \
	LANGUAGE(PERL, perl, "Perl", RUNS,                                                         \
		PALETTE(152, 12, 44, 64, 10), TERMINAL(122, 196, 164, 18, 0x00cdcd))               \
	LANGUAGE(RUBY, ruby, "Ruby", RUNS,                                                         \
		PALETTE(340, 12, 62, 66, 10), TERMINAL(228, 118, 140, 18, 0xff0000))               \
	LANGUAGE(JAVASCRIPT, javascript, "JavaScript", FRAMES,                                     \
		PALETTE(96, 14, 52, 62, 10), TERMINAL(150, 196, 96, 18, 0x00cd00))                 \
	LANGUAGE(JAVA, java, "Java", FRAMES,                                                       \
		PALETTE(24, 12, 70, 66, 10), TERMINAL(214, 140, 92, 18, 0xcdcd00))
/* clang-format on */

#ifndef LANGUAGES_ONLY
/* For those who need names only: EACH(ID, id). */
#define LANGUAGES_NOTHING(...)
#define LANGUAGE_ID(ID, id, title, where, ...) LANGUAGE_##ID,

enum language {
	LANGUAGE_NONE,
	LANGUAGES(LANGUAGE_ID, LANGUAGES_NOTHING, LANGUAGES_NOTHING) N_LANGUAGES,
};
#endif

#endif
