// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/languages.h"

#define IN_RUNS	  false
#define IN_FRAMES true
#define BRACES(...)                                                                                \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define LOOK(ID, id, title, where, ...) [LANGUAGE_##ID] = { #id, title, IN_##where, __VA_ARGS__ },

const struct language_look *language_look(uint32_t language)
{
	static const struct language_look looks[N_LANGUAGES] = {
		[LANGUAGE_NONE] = { "program",
				    "program",
				    false,
				    { 220, 0, 6, 72, 8 },
				    { 150, 140, 170, 8, 0xff00ff } },
		LANGUAGES(LOOK, BRACES, BRACES)
	};

	return &looks[language < N_LANGUAGES ? language : LANGUAGE_NONE];
}
