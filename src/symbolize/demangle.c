/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "symbolize/demangle_foreign.h"

#define STYLE_OPTIONS (DMGL_PARAMS | DMGL_ANSI)

/*
 * Bytes. libiberty's limit of recursion refuses C++ names beyond LONG. Without it, as with LLVM,
 * the worst names need 220 bytes of stack for each of theirs, so 3.5 MB.
 */
#define MAX_MANGLED 16384
#define LONG	    1024

struct output {
	char *bytes;
	size_t used, size;
	jmp_buf too_long;
};

/*
 * Back references let a few hundred mangled bytes stand for gigabytes. A callback can stop
 * libiberty only by a long jump, which leaks nothing but a few bytes of a punycode name: these
 * functions of libiberty do not allocate otherwise.
 */
static void append(const char *bytes, size_t size, void *context)
{
	struct output *output = context;

	if (!size) /* `bytes` may be NULL */
		return;
	if (size >= output->size - output->used)
		longjmp(output->too_long, 1);
	memcpy(output->bytes + output->used, bytes, size);
	output->used += size;
}

static bool looks_like_legacy_rust(const char *name)
{
	const char *hash = strstr(name, "17h");

	/* _ZN ... 17h<16 hexadecimal digits>E */
	for (; hash; hash = strstr(hash + 1, "17h")) {
		if (strspn(hash + 3, "0123456789abcdef") == 16 && hash[19] == 'E')
			return strncmp(name, "_ZN", 3) == 0;
	}
	return false;
}

typedef int demangler(const char *name, int options, demangle_callbackref callback, void *context);

static bool run(demangler *write, const char *name, char *ret_name, size_t size)
{
	struct output output = { .bytes = ret_name, .size = size };
	int options = STYLE_OPTIONS | (strlen(name) > LONG ? DMGL_NO_RECURSE_LIMIT : 0);

	if (setjmp(output.too_long))
		return false;
	if (!write(name, options, append, &output) || !output.used)
		return false;
	ret_name[output.used] = '\0';
	return true;
}

/* Where the release's libiberty does not know the name, it is written in LLVM's style. */
static bool demangle_cxx(const char *name, char *ret_name, size_t size)
{
	if (run(cplus_demangle_v3_callback, name, ret_name, size))
		return true;
	return demangle_foreign_cxx(name, ret_name, size);
}

/* A suffix of a compiler that libiberty does not take for one: uppercase letters, for example. */
static bool demangle_with_suffix(char *name, char *ret_name, size_t size)
{
	char *suffix = strchr(name, '.');
	size_t length;
	bool found;

	if (!suffix)
		return false;
	*suffix = '\0';
	found = demangle_cxx(name, ret_name, size);
	*suffix = '.';
	length = found ? strlen(ret_name) : 0;
	return found && (size_t)snprintf(ret_name + length, size - length, " [clone %s]", suffix) <
				size - length;
}

static bool demangle_plain(char *name, char *ret_name, size_t size)
{
	if (name[1] == 'D')
		return demangle_foreign_d(name, ret_name, size);
	if (name[1] == 'R')
		return run(rust_demangle_callback, name, ret_name, size);
	if (looks_like_legacy_rust(name) && run(rust_demangle_callback, name, ret_name, size))
		return true;
	return run(cplus_demangle_v3_callback, name, ret_name, size) ||
	       demangle_with_suffix(name, ret_name, size) || demangle_cxx(name, ret_name, size);
}

/*
 * Whether it would be an operator with parameters of C's types alone, which C++ does not allow but
 * for new and delete: a function of C, as _Zgetc(), which is no operator>=(unsigned short, char).
 */
static bool is_of_c(const char *name)
{
	size_t n = strncmp(name, "_Z", 2) == 0 ? strspn(name + 2, "abcdefghijklmnopqrstuvwxyz") : 0;

	return n > 0 && (name[2 + n] == '\0' || strchr(".@", name[2 + n])) &&
	       !(n > 2 && (strncmp(name + 2, "nw", 2) == 0 || strncmp(name + 2, "na", 2) == 0 ||
			   strncmp(name + 2, "dl", 2) == 0 || strncmp(name + 2, "da", 2) == 0));
}

static bool is_mangled(const char *name)
{
	if (name[0] != '_' || is_of_c(name))
		return false;
	return name[1] == 'Z' || name[1] == 'R' ||
	       (name[1] == 'D' &&
		((name[2] >= '0' && name[2] <= '9') || strcmp(name, "_Dmain") == 0));
}

/* A suffix from the first @ on (name@plt) is not mangled; it is appended unchanged. */
bool demangle(const char *name, char *ret_name, size_t size)
{
	char mangled[MAX_MANGLED + 1];
	size_t n, rest;

	if (strncmp(name, "___Z", 4) == 0)
		name += 2;
	if (!is_mangled(name) || !size)
		return false;
	if (strnlen(name, MAX_MANGLED + 1) > MAX_MANGLED)
		return false;
	n = strcspn(name, "@");
	rest = strlen(name + n) + 1;
	if (rest >= size)
		return false;
	memcpy(mangled, name, n);
	mangled[n] = '\0';
	if (!demangle_plain(mangled, ret_name, size - rest + 1))
		return false;
	memcpy(ret_name + strlen(ret_name), name + n, rest);
	return true;
}
