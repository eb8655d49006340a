/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

/* libiberty's limit of recursion refuses C++ names beyond 1024 bytes; Rust's are shorter. */
#define MAX_MANGLED   4096
#define STYLE_OPTIONS (DMGL_PARAMS | DMGL_ANSI)

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

	if (setjmp(output.too_long))
		return false;
	if (!write(name, STYLE_OPTIONS, append, &output) || !output.used)
		return false;
	ret_name[output.used] = '\0';
	return true;
}

static bool demangle_plain(const char *name, char *ret_name, size_t size)
{
	if (name[1] == 'R')
		return run(rust_demangle_callback, name, ret_name, size);
	if (looks_like_legacy_rust(name) && run(rust_demangle_callback, name, ret_name, size))
		return true;
	return run(cplus_demangle_v3_callback, name, ret_name, size);
}

/* A suffix from the first @ on (name@plt) is not mangled; it is appended unchanged. */
bool demangle(const char *name, char *ret_name, size_t size)
{
	char mangled[MAX_MANGLED + 1];
	size_t n, rest;

	if (strncmp(name, "___Z", 4) == 0)
		name += 2;
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') || !size)
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
