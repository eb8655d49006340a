/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JFR files, written byte by byte: chunks with the types, constants and events that tests want. */
#ifndef TESTS_MADE_JFR_H
#define TESTS_MADE_JFR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* Where the chunk's values have this: numbers of fixed size, or strings of this encoding. */
struct made_jfr {
	struct bytes out;
	size_t chunk, event; /* where they begin */
	uint64_t constants, metadata;
	bool fixed;
	unsigned int encoding; /* 3: UTF-8, 4: UTF-16, 5: Latin-1 */
};

/* Ids of types. */
enum {
	JFR_BOOLEAN = 4,
	JFR_INT,
	JFR_LONG,
	JFR_DOUBLE,
	JFR_STRING = 20,
	JFR_CLASS,
	JFR_SYMBOL,
	JFR_METHOD,
	JFR_FRAME_TYPE,
	JFR_FRAME,
	JFR_STACK,
	JFR_STATE,
	JFR_THREAD,
	JFR_EXECUTION = 101,
	JFR_NATIVE,
	JFR_WALL,
	JFR_ALLOCATION,
	JFR_MONITOR,
	JFR_JVM,
	JFR_LOAD,
	JFR_SLEEP,
	JFR_ITSELF, /* a type that holds itself */
	JFR_WIDE,   /* a type that holds eight of the next one, and so on; the last one nothing */
	JFR_NARROW = JFR_WIDE + 8,
};

#define MADE_TICKS 1000000000ull /* a second */

static inline void made_fixed(struct made_jfr *jfr, uint64_t number, unsigned int size)
{
	while (size-- > 0)
		bytes_char(&jfr->out, (char)(number >> (8 * size)));
}

static inline void made_number(struct made_jfr *jfr, uint64_t number, unsigned int size)
{
	if (jfr->fixed || size == 1) {
		made_fixed(jfr, number, size);
		return;
	}
	for (unsigned int i = 0; i < 8 && number >= 0x80; i++, number >>= 7)
		bytes_char(&jfr->out, (char)((number & 0x7f) | 0x80));
	bytes_char(&jfr->out, (char)number);
}

static inline void made_long(struct made_jfr *jfr, uint64_t number)
{
	made_number(jfr, number, 8);
}

static inline void made_int(struct made_jfr *jfr, uint64_t number)
{
	made_number(jfr, number, 4);
}

/* Latin-1 characters, as a string of the chunk's encoding. */
static inline void made_string(struct made_jfr *jfr, const char *text)
{
	size_t n = strlen(text);

	made_fixed(jfr, jfr->encoding, 1);
	if (jfr->encoding == 3) {
		size_t wide = 0;

		for (size_t i = 0; i < n; i++)
			wide += (unsigned char)text[i] >= 0x80;
		made_int(jfr, n + wide);
	} else {
		made_int(jfr, n);
	}
	for (size_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (jfr->encoding == 4) {
			made_number(jfr, byte, 2);
		} else if (jfr->encoding == 3 && byte >= 0x80) {
			made_fixed(jfr, 0xc0 | byte >> 6, 1);
			made_fixed(jfr, 0x80 | (byte & 0x3f), 1);
		} else {
			made_fixed(jfr, byte, 1);
		}
	}
}

/* An event: its size, of four bytes, is set at its end. */
static inline void made_begin(struct made_jfr *jfr, uint64_t type)
{
	jfr->event = jfr->out.used;
	made_fixed(jfr, 0, 4);
	made_long(jfr, type);
}

static inline void made_end(struct made_jfr *jfr)
{
	size_t size = jfr->out.used - jfr->event;
	char *at = jfr->out.start + jfr->event;

	for (unsigned int i = 0; i < 4; i++)
		at[i] = jfr->fixed ? (char)(size >> (8 * (3 - i)))
				   : (char)((size >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
}

/* ---- types ---- */

struct made_field {
	const char *name;
	unsigned int type;
	bool constant, list;
};

struct made_type {
	const char *name;
	unsigned int id;
	struct made_field fields[8]; /* ends with one without a name */
};

#define MADE_EIGHT(type)                                                                           \
	{                                                                                          \
		{ "a", type, 0, 0 }, { "b", type, 0, 0 }, { "c", type, 0, 0 },                     \
			{ "d", type, 0, 0 }, { "e", type, 0, 0 }, { "f", type, 0, 0 },             \
			{ "g", type, 0, 0 }, { "h", type, 0, 0 },                                  \
	}
#define MADE_WIDE(i)                                                                               \
	{                                                                                          \
		"x.Wide" #i, JFR_WIDE + i, MADE_EIGHT(JFR_WIDE + i + 1)                            \
	}

static const struct made_type made_types[] = {
	{ "boolean", JFR_BOOLEAN, { { 0 } } },
	{ "int", JFR_INT, { { 0 } } },
	{ "long", JFR_LONG, { { 0 } } },
	{ "double", JFR_DOUBLE, { { 0 } } },
	{ "java.lang.String", JFR_STRING, { { 0 } } },
	{ "java.lang.Class", JFR_CLASS, { { "name", JFR_SYMBOL, true, false } } },
	{ "jdk.types.Symbol", JFR_SYMBOL, { { "string", JFR_STRING, false, false } } },
	{ "jdk.types.Method",
	  JFR_METHOD,
	  { { "type", JFR_CLASS, true, false }, { "name", JFR_SYMBOL, true, false } } },
	{ "jdk.types.FrameType", JFR_FRAME_TYPE, { { "description", JFR_STRING, false, false } } },
	{ "jdk.types.StackFrame",
	  JFR_FRAME,
	  { { "method", JFR_METHOD, true, false },
	    { "lineNumber", JFR_INT, false, false },
	    { "type", JFR_FRAME_TYPE, true, false } } },
	{ "jdk.types.StackTrace",
	  JFR_STACK,
	  { { "truncated", JFR_BOOLEAN, false, false }, { "frames", JFR_FRAME, false, true } } },
	{ "jdk.types.ThreadState", JFR_STATE, { { "name", JFR_STRING, false, false } } },
	{ "java.lang.Thread",
	  JFR_THREAD,
	  { { "osName", JFR_STRING, false, false },
	    { "osThreadId", JFR_LONG, false, false },
	    { "javaName", JFR_STRING, false, false } } },
	{ "jdk.ExecutionSample",
	  JFR_EXECUTION,
	  { { "startTime", JFR_LONG, false, false },
	    { "sampledThread", JFR_THREAD, true, false },
	    { "stackTrace", JFR_STACK, true, false },
	    { "state", JFR_STATE, true, false } } },
	{ "jdk.NativeMethodSample",
	  JFR_NATIVE,
	  { { "startTime", JFR_LONG, false, false },
	    { "sampledThread", JFR_THREAD, true, false },
	    { "stackTrace", JFR_STACK, true, false },
	    { "state", JFR_STATE, true, false } } },
	{ "profiler.WallClockSample",
	  JFR_WALL,
	  { { "startTime", JFR_LONG, false, false },
	    { "sampledThread", JFR_THREAD, true, false },
	    { "stackTrace", JFR_STACK, true, false },
	    { "state", JFR_STATE, true, false },
	    { "samples", JFR_INT, false, false } } },
	{ "jdk.ObjectAllocationSample",
	  JFR_ALLOCATION,
	  { { "startTime", JFR_LONG, false, false },
	    { "eventThread", JFR_THREAD, true, false },
	    { "stackTrace", JFR_STACK, true, false },
	    { "objectClass", JFR_CLASS, true, false },
	    { "weight", JFR_LONG, false, false } } },
	{ "jdk.JavaMonitorEnter",
	  JFR_MONITOR,
	  { { "startTime", JFR_LONG, false, false },
	    { "duration", JFR_LONG, false, false },
	    { "eventThread", JFR_THREAD, true, false },
	    { "stackTrace", JFR_STACK, true, false },
	    { "monitorClass", JFR_CLASS, true, false } } },
	{ "jdk.JVMInformation",
	  JFR_JVM,
	  { { "startTime", JFR_LONG, false, false }, { "pid", JFR_LONG, false, false } } },
	{ "jdk.CPULoad",
	  JFR_LOAD,
	  { { "startTime", JFR_LONG, false, false }, { "user", JFR_DOUBLE, false, false } } },
	{ "jdk.ThreadSleep",
	  JFR_SLEEP,
	  { { "startTime", JFR_LONG, false, false },
	    { "duration", JFR_LONG, false, false },
	    { "eventThread", JFR_THREAD, true, false },
	    { "stackTrace", JFR_STACK, true, false } } },
	{ "x.Itself",
	  JFR_ITSELF,
	  { { "a", JFR_ITSELF, false, false }, { "b", JFR_ITSELF, false, false } } },
	MADE_WIDE(0),
	MADE_WIDE(1),
	MADE_WIDE(2),
	MADE_WIDE(3),
	MADE_WIDE(4),
	MADE_WIDE(5),
	MADE_WIDE(6),
	MADE_WIDE(7),
	{ "x.Narrow", JFR_NARROW, { { 0 } } },
};

#define MADE_N_TYPES (sizeof(made_types) / sizeof(made_types[0]))

/* A table of strings; the elements refer to them. */
struct made_strings {
	char list[256][40];
	unsigned int n;
};

static inline unsigned int made_index(struct made_strings *strings, const char *text)
{
	unsigned int i = 0;

	while (i < strings->n && strcmp(strings->list[i], text) != 0)
		i++;
	if (i == strings->n)
		snprintf(strings->list[strings->n++], sizeof(strings->list[0]), "%s", text);
	return i;
}

static inline void made_attribute(struct made_jfr *jfr, struct made_strings *strings,
				  const char *key, const char *value)
{
	made_int(jfr, made_index(strings, key));
	made_int(jfr, made_index(strings, value));
}

static inline void made_field(struct made_jfr *jfr, struct made_strings *strings,
			      const struct made_field *field)
{
	char id[16];

	snprintf(id, sizeof(id), "%u", field->type);
	made_int(jfr, made_index(strings, "field"));
	made_int(jfr, 2 + (unsigned int)field->constant + (unsigned int)field->list);
	made_attribute(jfr, strings, "name", field->name);
	made_attribute(jfr, strings, "class", id);
	if (field->constant)
		made_attribute(jfr, strings, "constantPool", "true");
	if (field->list)
		made_attribute(jfr, strings, "dimension", "1");
	made_int(jfr, 0);
}

static inline void made_elements(struct made_jfr *jfr, struct made_strings *strings)
{
	made_int(jfr, made_index(strings, "root"));
	made_int(jfr, 0);
	made_int(jfr, 2);
	made_int(jfr, made_index(strings, "metadata"));
	made_int(jfr, 0);
	made_int(jfr, MADE_N_TYPES);
	for (size_t i = 0; i < MADE_N_TYPES; i++) {
		const struct made_type *type = &made_types[i];
		unsigned int n = 0;
		char id[16];

		while (n < 8 && type->fields[n].name)
			n++;
		snprintf(id, sizeof(id), "%u", type->id);
		made_int(jfr, made_index(strings, "class"));
		made_int(jfr, 2);
		made_attribute(jfr, strings, "name", type->name);
		made_attribute(jfr, strings, "id", id);
		made_int(jfr, n);
		for (unsigned int k = 0; k < n; k++)
			made_field(jfr, strings, &type->fields[k]);
	}
	made_int(jfr, made_index(strings, "region"));
	made_int(jfr, 0);
	made_int(jfr, 0);
}

static inline void made_metadata(struct made_jfr *jfr)
{
	static struct made_strings strings;
	size_t used = jfr->out.used;

	strings.n = 0;
	made_elements(jfr, &strings); /* collects the strings, which come first */
	jfr->out.used = used;
	jfr->metadata = used - jfr->chunk;
	made_begin(jfr, 0);
	made_long(jfr, 0);
	made_long(jfr, 0);
	made_long(jfr, 1);
	made_int(jfr, strings.n);
	for (unsigned int i = 0; i < strings.n; i++)
		made_string(jfr, strings.list[i]);
	made_elements(jfr, &strings);
	made_end(jfr);
}

/* ---- constants ---- */

static inline void made_pool(struct made_jfr *jfr, unsigned int type, unsigned int n)
{
	made_long(jfr, type);
	made_int(jfr, n);
}

static inline void made_checkpoint(struct made_jfr *jfr, unsigned int n_pools)
{
	jfr->constants = jfr->out.used - jfr->chunk;
	made_begin(jfr, 1);
	made_long(jfr, 0);
	made_long(jfr, 0);
	made_long(jfr, 0);
	made_fixed(jfr, 1, 1);
	made_int(jfr, n_pools);
}

static inline void made_frame(struct made_jfr *jfr, unsigned int method, unsigned int line,
			      unsigned int type)
{
	made_long(jfr, method);
	made_int(jfr, line);
	made_long(jfr, type);
}

/* ---- chunks ---- */

static inline void made_chunk(struct made_jfr *jfr)
{
	jfr->chunk = jfr->out.used;
	for (unsigned int i = 0; i < 68; i++)
		bytes_char(&jfr->out, 0);
	made_metadata(jfr);
}

/* Sets the header, which begins `start_ns` after 1970 and at 5 s of its ticks. */
static inline void made_finish(struct made_jfr *jfr, uint64_t start_ns, uint64_t duration_ns)
{
	size_t end = jfr->out.used;

	jfr->out.used = jfr->chunk;
	bytes_put(&jfr->out, "FLR\0\0\2\0\1", 8);
	made_fixed(jfr, end - jfr->chunk, 8);
	made_fixed(jfr, jfr->constants, 8);
	made_fixed(jfr, jfr->metadata, 8);
	made_fixed(jfr, start_ns, 8);
	made_fixed(jfr, duration_ns, 8);
	made_fixed(jfr, 5 * MADE_TICKS, 8);
	made_fixed(jfr, MADE_TICKS, 8);
	made_fixed(jfr, !jfr->fixed, 4);
	jfr->out.used = end;
}

#endif
