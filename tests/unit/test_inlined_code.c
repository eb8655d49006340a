// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that V8 compiled into others: tables of source positions that node 22 and 26 made of
 * the functions below, in code of run() that was entered in its loop; and forged ones.
 *
 *	function clock() { return Date.now() / 1000; }
 *	function leaf(n) { var s = 0; for (var i = 0; i < n; i++) s += i * i % 7; return s; }
 *	function render(n) { return leaf(n); }
 *	function order(n) { var a = []; for (...) a.push(n - i); a.sort(key); return a; }
 *	function handle(n) { sink += render(600); return order(10); }
 *	function run(end) { var n = 0; while (clock() < end) { sink += handle(n).length; n++; } }
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/wire.h"
#include "drain/inlined_code.h"
#include "drain/script_places.h"

/* clang-format off */
static const uint8_t table_22[] = {
	0x03, 0x90, 0x18, 0x81, 0x02, 0x68, 0x89, 0x02, 0x28, 0x09, 0x28, 0x27, 0xf4, 0xef,
	0xff, 0xff, 0x0f, 0x27, 0x18, 0x53, 0xeb, 0xef, 0xff, 0xff, 0x0f, 0x8b, 0x01, 0x24,
	0x11, 0x20, 0x29, 0x90, 0xfc, 0xff, 0xff, 0x1f, 0x1d, 0xb8, 0xf4, 0xff, 0xff, 0x2f,
	0x1f, 0x48, 0x7d, 0x18, 0x09, 0x2c, 0x0f, 0x10, 0x41, 0x9b, 0x01, 0x19, 0xb0, 0x01,
	0xe5, 0x01, 0xc7, 0xf5, 0xff, 0xff, 0x2f, 0x3b, 0x0b, 0x17, 0xc0, 0xfc, 0xff, 0xff,
	0x0f, 0x87, 0x01, 0xc0, 0x01, 0x63, 0xaf, 0x01, 0x17, 0xcc, 0x01, 0x41, 0x83, 0x01,
	0x15, 0x50, 0x09, 0x18, 0x51, 0x1c, 0x0d, 0x1b, 0x21, 0xaf, 0x01, 0x19, 0xec, 0x01,
	0x59, 0xbb, 0xfa, 0xff, 0xff, 0x2f, 0x83, 0x01, 0x2f, 0x1f, 0x54, 0x43, 0x97, 0x02,
	0x21, 0x44, 0x0b, 0xf0, 0x01, 0x43, 0xc0, 0xf1, 0xff, 0xff, 0x4f, 0x0b, 0xbf, 0xf4,
	0xff, 0xff, 0x4f, 0x5d, 0x68, 0x65, 0xdc, 0xf0, 0xff, 0xff, 0x0f, 0x15, 0xa0, 0x81,
	0x80, 0x80, 0x40, 0x91, 0x02, 0xb0, 0x01, 0x75, 0x93, 0xf9, 0xff, 0xff, 0x1f, 0x3f,
	0xc0, 0x01, 0x69, 0xaf, 0x01, 0x6f, 0xb0, 0x01, 0xbd, 0x01, 0xaf, 0x01, 0x81, 0x01,
	0xc3, 0xfa, 0xff, 0xff, 0x2f,
};
static const uint8_t table_26[] = {
	0x62, 0x90, 0x18, 0xa6, 0x01, 0x68, 0xfa, 0x03, 0x28, 0x12, 0x28, 0x4e, 0xf4, 0xef,
	0xff, 0xff, 0x0f, 0x4e, 0x18, 0xa6, 0x01, 0xeb, 0xef, 0xff, 0xff, 0x0f, 0x96, 0x02,
	0x24, 0x22, 0x20, 0x52, 0x90, 0xfc, 0xff, 0xff, 0x1f, 0x3a, 0xb8, 0xf4, 0xff, 0xff,
	0x1f, 0x2e, 0x48, 0x8e, 0x02, 0x44, 0x16, 0x10, 0x66, 0x3b, 0x0e, 0x3c, 0x26, 0x53,
	0x2e, 0x44, 0x1e, 0x10, 0x66, 0x3b, 0x0e, 0x3c, 0x26, 0x53, 0x2e, 0x44, 0x16, 0x10,
	0x5a, 0x3b, 0x0e, 0x3c, 0x26, 0x53, 0x2e, 0x44, 0x1e, 0x10, 0x6a, 0x3b, 0x0e, 0x3c,
	0x26, 0x9b, 0x01, 0x42, 0x48, 0x4e, 0x68, 0xca, 0x03, 0xc7, 0xf5, 0xff, 0xff, 0x1f,
	0x76, 0x0b, 0x22, 0xc0, 0xfc, 0xff, 0xff, 0x2f, 0x8e, 0x02, 0xc0, 0x01, 0xb2, 0x01,
	0xaf, 0x01, 0xfa, 0x01, 0xb0, 0x01, 0x12, 0x1c, 0x1a, 0x1b, 0x22, 0x17, 0x12, 0x18,
	0x16, 0x67, 0x2a, 0x68, 0x8a, 0x01, 0x3c, 0xee, 0x01, 0xbb, 0xfa, 0xff, 0xff, 0x4f,
	0x86, 0x02, 0x2f, 0x32, 0x54, 0x8a, 0x01, 0x97, 0x02, 0x42, 0x44, 0x16, 0xf0, 0x01,
	0x86, 0x01, 0xc0, 0xf1, 0xff, 0xff, 0x3f, 0x16, 0xbf, 0xf4, 0xff, 0xff, 0x3f, 0xba,
	0x01, 0x68, 0xca, 0x01, 0xdc, 0xf0, 0xff, 0xff, 0x0f, 0x2a, 0xa0, 0x81, 0x80, 0x80,
	0x30, 0xda, 0x04, 0xb0, 0x01, 0xea, 0x01, 0xec, 0x86, 0x80, 0x80, 0x10, 0xa6, 0x01,
	0xc0, 0x01, 0x8a, 0x02, 0xaf, 0x01, 0x96, 0x02, 0xb0, 0x01, 0x82, 0x03, 0xf3, 0xfb,
	0xff, 0xff, 0x4f,
};

enum { RUN = -1, CLOCK, HANDLE, ORDER, RENDER, LEAF, N_PLACES };
/* Their numbers in the code of node 26. */
static const int8_t as_22[] = { CLOCK, HANDLE, RENDER, LEAF, ORDER };

/* From which offset on there is which place. */
struct piece {
	uint32_t begin;
	int64_t place;
};
static const struct piece pieces_22[] = {
	{ 0, RUN },
	{ 283, CLOCK },
	{ 343, RUN },
	{ 440, HANDLE },
	{ 454, LEAF },
	{ 700, HANDLE },
	{ 740, ORDER },
	{ 1031, RUN },
	{ 1198, LEAF },
	{ 1203, RUN },
	{ 1299, CLOCK },
	{ 1309, LEAF },
	{ 1503, ORDER },
	{ 1799, RUN },
};
static const struct piece pieces_26[] = {
	{ 23, RUN },
	{ 213, CLOCK },
	{ 273, RUN },
	{ 370, HANDLE },
	{ 384, LEAF },
	{ 814, HANDLE },
	{ 851, ORDER },
	{ 1154, RUN },
	{ 1319, LEAF },
	{ 1324, RUN },
	{ 1420, CLOCK },
	{ 1430, LEAF },
	{ 1638, ORDER },
	{ 1910, RUN },
};
/* clang-format on */

static void check_pieces(const uint8_t *table, size_t size, const struct piece *pieces, size_t n,
			 const int8_t *names)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t last = i + 1 < n ? pieces[i + 1].begin - 1 : UINT32_MAX;
		int64_t first = inlined_place_at(table, size, pieces[i].begin);

		assert_int_equal(first < 0 || !names ? first : names[first], pieces[i].place);
		assert_int_equal(inlined_place_at(table, size, last), first);
	}
}

static void test_tables(void **state)
{
	(void)state;
	check_pieces(table_22, sizeof(table_22), pieces_22,
		     sizeof(pieces_22) / sizeof(pieces_22[0]), NULL);
	check_pieces(table_26, sizeof(table_26), pieces_26,
		     sizeof(pieces_26) / sizeof(pieces_26[0]), as_22);
	/* Before the first piece, and of tables that end in a number. */
	assert_int_equal(inlined_place_at(table_26, sizeof(table_26), 0), RUN);
	assert_int_equal(inlined_place_at(table_22, 0, 0), RUN);
	for (size_t size = 0; size < sizeof(table_22); size++)
		assert_in_range(inlined_place_at(table_22, size, 500) + 1, 0, N_PLACES);
}

/* ---- records ---- */

#define CODE	 5000 /* ids */
#define FUNCTION 6000 /* of run(), and of the others from 1 on */

struct record {
	struct wire_inlined_code code;
	uint8_t table[(sizeof(table_22) + 7) / 8 * 8];
};

/* As the code object of node 22 has it. */
static struct record record_22(void)
{
	static const int8_t in[N_PLACES] = { RUN, RUN, HANDLE, HANDLE, RENDER };
	struct record record = { .code = { .id = CODE,
					   .function = FUNCTION,
					   .n_functions = N_PLACES,
					   .n_places = N_PLACES,
					   .size = sizeof(table_22),
					   .kind = WIRE_KIND_INLINED } };

	for (int i = 0; i < N_PLACES; i++) {
		record.code.functions[i] = FUNCTION + 1 + (uint64_t)i;
		record.code.places[i] = (struct wire_inlined_place){
			.position = (uint64_t)(in[i] + 1) << 31 | 700 << 1, .function = i
		};
	}
	memcpy(record.table, table_22, sizeof(table_22));
	return record;
}

struct known {
	struct scripts *scripts;
	struct script_places *places;
};

static struct known known_functions(const struct record *record)
{
	static const char *const names[] = { "run", "clock", "handle", "order", "render", "leaf" };
	struct known known;

	assert_int_equal(scripts_new(&known.scripts), 0);
	assert_int_equal(script_places_new(&known.places), 0);
	for (uint64_t i = 0; i < 1 + N_PLACES; i++)
		assert_int_equal(scripts_add(known.scripts, &(struct script){ .id = FUNCTION + i,
									      .name = names[i],
									      .file = "busy.js" }),
				 0);
	assert_int_equal(code_places_take_inlined(known.places, record, sizeof(*record)), 0);
	return known;
}

static void forget(struct known *known)
{
	script_places_free(known->places);
	scripts_free(known->scripts);
}

/* Takes a place; its functions, innermost first, or the reason in place of them. */
static const char *functions_at(struct known *known, uint32_t offset)
{
	const struct wire_script_place place = { .id = 9000 + offset,
						 .function = CODE,
						 .offset = offset,
						 .form = WIRE_LINES_INLINED,
						 .kind = WIRE_KIND_PLACE };
	static char text[256];
	uint64_t id = place.id;
	struct script code;

	assert_int_equal(script_places_take(known->places, known->scripts, &place, sizeof(place)),
			 0);
	for (*text = '\0'; id && scripts_find(known->scripts, id, &code); id = code.caller) {
		strcat(text, code.reason ? script_reason_name(code.reason) : code.name);
		strcat(text, code.caller ? " " : "");
	}
	return text;
}

static void test_functions(void **state)
{
	struct record record = record_22();
	struct known known = known_functions(&record);

	(void)state;
	assert_string_equal(functions_at(&known, 0), "run");
	assert_string_equal(functions_at(&known, 290), "clock run");
	assert_string_equal(functions_at(&known, 450), "handle run");
	assert_string_equal(functions_at(&known, 500), "leaf render handle run");
	assert_string_equal(functions_at(&known, 750), "order handle run");
	forget(&known);
	/* One of V8's own functions has no name. */
	record.code.functions[RENDER] = 0;
	known = known_functions(&record);
	assert_string_equal(functions_at(&known, 500), "leaf handle run");
	forget(&known);
	/* Code that was not sent. */
	record.code.id++;
	known = known_functions(&record);
	assert_string_equal(functions_at(&known, 500), "");
	forget(&known);
}

/* A function is not shown with callers that may be others'. */
static void test_forged(void **state)
{
	static const char *const no = "inlined functions not shown run";
	struct record record = record_22();
	struct known known;

	(void)state;
	record.code.places[LEAF].position = (uint64_t)(LEAF + 1) << 31; /* in itself */
	record.code.places[RENDER].function = N_PLACES + 1;
	record.code.functions[HANDLE] = 77;	     /* a reason */
	record.code.functions[ORDER] = FUNCTION - 1; /* unknown */
	record.code.places[CLOCK].function = INT32_MIN;
	known = known_functions(&record);
	assert_string_equal(functions_at(&known, 500), no);
	assert_string_equal(functions_at(&known, 750), no);
	assert_string_equal(functions_at(&known, 450), no);
	assert_string_equal(functions_at(&known, 290), no);
	forget(&known);
	record = record_22();
	record.code.n_places = LEAF;
	known = known_functions(&record);
	assert_string_equal(functions_at(&known, 500), no);
	/* Sizes that do not agree. */
	assert_int_equal(code_places_take_inlined(known.places, &record, sizeof(record) - 8),
			 -EPROTO);
	assert_int_equal(code_places_take_inlined(known.places, &record, 31), -EPROTO);
	record.code.n_places = WIRE_INLINED_PLACES + 1;
	assert_int_equal(code_places_take_inlined(known.places, &record, sizeof(record)), -EPROTO);
	record.code.n_places = 0;
	record.code.n_functions = WIRE_INLINED_FUNCTIONS + 1;
	assert_int_equal(code_places_take_inlined(known.places, &record, sizeof(record)), -EPROTO);
	record.code.n_functions = 0;
	record.code.size = UINT32_MAX;
	assert_int_equal(code_places_take_inlined(known.places, &record, sizeof(record)), -EPROTO);
	forget(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_forged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
