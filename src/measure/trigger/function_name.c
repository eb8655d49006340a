// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/function_name.h"

#include <stdio.h>
#include <string.h>

#include "trigger/matcher.h"

/* What the suffixes of a symbol say that it is. */
enum variant {
	VARIANT_NONE,
	VARIANT_CLONE,
	VARIANT_PART,
	VARIANT_COLD,
};

static bool is_word(const char *text, size_t size, const char *word)
{
	return strlen(word) == size && memcmp(text, word, size) == 0;
}

/* A suffix without its dot: GCC's and LLVM's words, and numbers. */
static bool classify(const char *suffix, size_t size, enum variant *ret_variant)
{
	static const char *const clones[] = { "isra",	"constprop", "lto_priv",  "llvm",
					      "__uniq", "clone",     "localalias" };

	if (size > 0 && strspn(suffix, "0123456789abcdef") >= size &&
	    strspn(suffix, "0123456789") > 0)
		*ret_variant = VARIANT_CLONE;
	else if (is_word(suffix, size, "cold"))
		*ret_variant = VARIANT_COLD;
	else if (is_word(suffix, size, "part"))
		*ret_variant = VARIANT_PART;
	else
		*ret_variant = VARIANT_NONE;
	for (size_t i = 0; i < sizeof(clones) / sizeof(clones[0]); i++)
		if (is_word(suffix, size, clones[i]))
			*ret_variant = VARIANT_CLONE;
	return *ret_variant != VARIANT_NONE;
}

/* Cuts the suffixes off; an unknown one behind a mangled name makes a part, too. */
static enum variant cut_suffixes(char *name)
{
	bool mangled = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
	enum variant all = VARIANT_NONE, variant;
	char *end = name + strlen(name);

	for (char *dot = end; dot > name + 1; dot--) {
		if (*dot != '.')
			continue;
		if (!classify(dot + 1, (size_t)(end - dot - 1), &variant)) {
			if (!mangled || dot[-1] == '.' || end[-1] == 'E')
				break;
			variant = VARIANT_PART;
		}
		all = variant > all ? variant : all;
		end = dot;
	}
	*end = '\0';
	return all;
}

/* The start of the parameters in a readable name, as "ns::f<(a)1>(int, g()) const"; or NULL. */
static char *parameters(char *demangled)
{
	char *at = strrchr(demangled, ')');
	uint32_t depth = 0;

	for (; at && at > demangled; at--) {
		if (*at == ')')
			depth++;
		else if (*at == '(' && --depth == 0)
			return at;
	}
	return NULL;
}

/*
 * Behind the type that a template's readable name begins with: "void ns::f<int>(int)". Names such
 * as "virtual thunk to A::f()" have another meaning (_ZT, _ZG).
 */
static const char *behind_type(const char *mangled, const char *readable, const char *end)
{
	const char *name = readable;
	uint32_t depth = 0;

	if (strncmp(mangled, "_ZT", 3) == 0 || strncmp(mangled, "_ZG", 3) == 0)
		return readable;
	for (const char *at = readable; at < end; at++) {
		if (depth == 0 && strncmp(at, "operator", strlen("operator")) == 0)
			break;
		if (strchr("<({[", *at))
			depth++;
		else if (strchr(">)}]", *at) && depth > 0)
			depth--;
		else if (*at == ' ' && depth == 0)
			name = at + 1;
	}
	return name;
}

/* Where the arguments of a template begin, which end the name; NULL: it has none. */
static char *template_arguments(char *name)
{
	size_t n = strlen(name);
	uint32_t depth = 0;

	if (n == 0 || name[n - 1] != '>' || strstr(name, "operator"))
		return NULL;
	for (char *at = name + n - 1; at > name; at--) {
		if (*at == '>')
			depth++;
		else if (*at == '<' && --depth == 0)
			return at;
	}
	return NULL;
}

/*
 * Compares the readable name whole, without parameters, without the type before it, and without
 * the arguments of a template. Afterwards it has no parameters any more.
 */
static bool readable_matches(const struct matcher *matcher, const char *mangled, char *readable)
{
	char *end = parameters(readable), *arguments;
	const char *name = behind_type(mangled, readable, end ? end : readable + strlen(readable));

	if (matcher_matches(matcher, readable) ||
	    (name != readable && matcher_matches(matcher, name)))
		return true;
	if (end)
		*end = '\0';
	if (end && (matcher_matches(matcher, readable) ||
		    (name != readable && matcher_matches(matcher, name))))
		return true;
	arguments = template_arguments(readable + (name - readable));
	if (!arguments)
		return false;
	*arguments = '\0';
	if (matcher_matches(matcher, name))
		return true;
	*arguments = '<';
	return false;
}

/* A cold part is meant only where its name is given in full. */
static enum name_match match_cold(const struct name_reader *reader, const char *name)
{
	if (!matcher_matches(reader->matcher, name))
		return NAME_DIFFERS;
	return matcher_is_name(reader->matcher) ? NAME_EXACT : NAME_COLD;
}

enum name_match name_match(struct name_reader *reader, const char *name, bool has_suffixes)
{
	enum variant variant = VARIANT_NONE;

	if ((size_t)snprintf(reader->base, sizeof(reader->base), "%s", name) >=
	    sizeof(reader->base))
		has_suffixes = false;
	if (has_suffixes)
		variant = cut_suffixes(reader->base);
	if (variant == VARIANT_COLD)
		return match_cold(reader, name);
	if (matcher_matches(reader->matcher, name))
		return NAME_EXACT;
	if (variant == VARIANT_CLONE && matcher_matches(reader->matcher, reader->base))
		return NAME_CLONE;
	if (demangle(reader->base, reader->readable, sizeof(reader->readable))) {
		if (variant != VARIANT_PART)
			nearest_add(reader->nearest, reader->readable);
		if (variant != VARIANT_PART &&
		    readable_matches(reader->matcher, reader->base, reader->readable))
			return NAME_READABLE;
		name = reader->readable;
	}
	nearest_add(reader->nearest, name);
	return NAME_DIFFERS;
}
