// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of lines: those that CPython's compilers made of the functions shown here, and forged
 * ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/wire.h"
#include "drain/script_places.h"

/*
 * def f(x):
 *     y = [i for i in x
 *          if i]
 *
 *
 *
 *     try:
 *         return g(y,
 *                  x)
 *     except ValueError:
 *         return 0
 *     finally:
 *         g(1)
 *
 * from line 2 on, and the lines of its instructions, which the interpreter's own functions give.
 */
/* 3.9 */
static const uint8_t pairs[] = { 0, 1,	 14, 5, 4,  1, 4, 1, 2, 255, 6, 5,
				 8, 251, 2,  2, 12, 1, 4, 2, 8, 254, 8, 2 };
static const uint8_t pairs_lines[] = { 3,  3,  3,  3,  3,  3,  3,  8,  8,  9,  9,  10,
				       9,  9,  9,  14, 14, 14, 14, 9,  11, 11, 11, 11,
				       11, 11, 12, 12, 14, 14, 14, 14, 12, 12, 12, 12,
				       14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14 };
/* 3.10 */
static const uint8_t ranges[] = { 14, 1,  4,   5, 4, 1,	 2, 1, 6,   255, 10,
				  5,  12, 253, 4, 1, 12, 2, 2, 253, 10,	 3 };
static const uint8_t ranges_lines[] = { 3,  3,	3,  3,	3,  3,	3,  8,	8,  9,	9,  10, 9,  9,
					9,  14, 14, 14, 14, 14, 11, 11, 11, 11, 11, 11, 12, 12,
					14, 14, 14, 14, 14, 14, 11, 14, 14, 14, 14, 14 };
/* 3.11 */
static const uint8_t locations[] = {
	128, 0,	  240, 2,   1,	 9,   15,  240, 0,   1,	  9,   15,  144, 65,  240, 0,	1,
	9,   15,  241, 0,   1,	 9,   15,  244, 0,   1,	  9,   15,  128, 65,  240, 10,	6,
	5,   13,  221, 15,  16,	 144, 17,  216, 17,  18,  241, 3,   1,	 16,  20,  244, 0,
	1,   16,  20,  245, 10,	 0,   9,   10,	136, 33,  137, 4,   140, 4,   136, 4,	136,
	4,   248, 245, 7,   0,	 12,  22,  240, 0,   1,	  5,   17,  240, 0,   1,   5,	17,
	240, 0,	  1,   5,   17,	 216, 15,  16,	229, 8,	  9,   136, 33,	 137, 4,   140, 4,
	136, 4,	  136, 4,   136, 4,   240, 7,	1,   5,	  17,  248, 248, 248, 248, 245, 6,
	0,   9,	  10,  136, 33,	 137, 4,   140, 4,   136, 4,   136, 4,	 248, 248, 248
};
static const uint8_t locations_lines[] = { 2,  3,  3,  3,  3,  3,  3,  3,  3,  3,  3,  3,  3,  8,
					   9,  9,  9,  9,  9,  9,  9,  10, 9,  9,  9,  9,  9,  9,
					   9,  14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
					   14, 14, 14, 0,  11, 11, 11, 11, 11, 11, 11, 11, 11, 12,
					   14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
					   14, 14, 14, 11, 0,  0,  0,  0,  14, 14, 14, 14, 14, 14,
					   14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 0,  0,  0 };
/* 3.13 */
static const uint8_t locations_3_13[] = {
	128, 0,	 217, 20,  21, 243, 0,	 1,   9,   15,	145, 65,  136, 113, 220, 12,  13,
	247, 3,	 0,   10,  11, 145, 65,	 128, 65,  240, 0,   1,	  9,   15,  240, 10,  6,
	5,   13, 220, 15,  16, 144, 17,	 216, 17,  18,	243, 3,	  1,   16,  20,	 244, 10,
	0,   9,	 10,  136, 33, 141, 4,	 249, 242, 23,	1,   9,	  15,  248, 244, 16,  0,
	12,  22, 243, 0,   1,  5,   17,	 216, 15,  16,	228, 8,	  9,   136, 33,	 141, 4,
	240, 7,	 1,   5,   17, 251, 244, 6,   0,   9,	10,  136, 33,  141, 4,	 250
};
static const uint8_t locations_3_13_lines[] = {
	2,  3,	3,  3,	3,  3,	3,  3,	3,  3,	4,  4,	4,  4,	4,  3,	3,  3,	3,  3,
	3,  3,	3,  3,	3,  3,	3,  8,	9,  9,	9,  9,	9,  9,	10, 9,	9,  9,	9,  14,
	14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 0,	0,  3,	3,  3,	0,  11, 11, 11,
	11, 11, 11, 11, 11, 11, 12, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 11,
	0,  0,	0,  0,	14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 0,  0,	0
};

static uint32_t line(enum wire_line_form form, const uint8_t *table, size_t size, uint32_t offset)
{
	return code_line_at(form, table, size, 2, offset);
}

static void test_real(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(pairs_lines); i++)
		assert_int_equal(line(WIRE_LINES_PAIRS, pairs, sizeof(pairs), 2 * i),
				 pairs_lines[i]);
	for (uint32_t i = 0; i < sizeof(ranges_lines); i++)
		assert_int_equal(line(WIRE_LINES_RANGES, ranges, sizeof(ranges), 2 * i),
				 ranges_lines[i]);
	for (uint32_t i = 0; i < sizeof(locations_lines); i++)
		assert_int_equal(line(WIRE_LINES_LOCATIONS, locations, sizeof(locations), 2 * i),
				 locations_lines[i]);
	for (uint32_t i = 0; i < sizeof(locations_3_13_lines); i++)
		assert_int_equal(line(WIRE_LINES_LOCATIONS, locations_3_13, sizeof(locations_3_13),
				      2 * i),
				 locations_3_13_lines[i]);
}

static void test_forged(void **state)
{
	static const uint8_t endless[] = { 0x80 | 14 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f,
					   0x7f,	   0x7f, 0x7f, 0x7f, 0x7f, 0x7f };
	static const uint8_t below[] = { 0x80 | 13 << 3, 0x3f };
	static const uint8_t odd[] = { 4 };

	(void)state;
	assert_int_equal(line(WIRE_LINES_LOCATIONS, endless, sizeof(endless), 100), 0);
	assert_int_equal(line(WIRE_LINES_LOCATIONS, below, sizeof(below), 0), 0);
	assert_int_equal(line(WIRE_LINES_LOCATIONS, below, 0, 0), 0);
	assert_int_equal(line(WIRE_LINES_RANGES, odd, sizeof(odd), 0), 0);
	assert_int_equal(line(WIRE_LINES_PAIRS, odd, sizeof(odd), 9), 2);
}

#define FUNCTION 1000

struct record {
	struct wire_script_place place;
	uint8_t table[8];
};

static void test_records(void **state)
{
	const struct script function = { .id = FUNCTION, .name = "f", .file = "/x.py", .line = 2 };
	struct record is = { { .id = 2000,
			       .function = FUNCTION,
			       .size = 5,
			       .form = WIRE_LINES_PAIRS,
			       .kind = WIRE_KIND_PLACE },
			     { 0, 1, 4, 3, 0 } };
	struct script_places *places;
	struct scripts *scripts;
	struct script code;

	(void)state;
	assert_int_equal(scripts_new(&scripts), 0);
	assert_int_equal(script_places_new(&places), 0);
	/* Before the name. */
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is)), 0);
	assert_false(scripts_find(scripts, 2000, &code));
	assert_int_equal(scripts_add(scripts, &function), 0);
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is)), 0);
	assert_true(scripts_find(scripts, 2000, &code));
	assert_string_equal(code.name, "f");
	assert_int_equal(code.line, 2);
	assert_int_equal(code.at, 3);
	/* Without the table, which is known. */
	is.place = (struct wire_script_place){
		.id = 2001, .function = FUNCTION, .offset = 4, .kind = WIRE_KIND_PLACE
	};
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is.place)), 0);
	assert_true(scripts_find(scripts, 2001, &code));
	assert_int_equal(code.at, 6);
	is.place = (struct wire_script_place){
		.id = 2002, .function = FUNCTION, .form = WIRE_LINES_EMPTY, .kind = WIRE_KIND_PLACE
	};
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is.place)), 0);
	assert_true(scripts_find(scripts, 2002, &code));
	assert_int_equal(code.at, 2);
	/* A line that the walk has found. */
	is.place = (struct wire_script_place){ .id = 2003,
					       .function = FUNCTION,
					       .offset = 17,
					       .form = WIRE_LINES_KNOWN,
					       .kind = WIRE_KIND_PLACE };
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is.place)), 0);
	assert_true(scripts_find(scripts, 2003, &code));
	assert_int_equal(code.at, 17);
	/* Sizes that do not agree. */
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is)), -EPROTO);
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is.place) - 1), -EPROTO);
	is.place.size = UINT32_MAX;
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is)), -EPROTO);
	is.place.size = 0;
	is.place.form = WIRE_N_LINE_FORMS;
	assert_int_equal(script_places_take(places, scripts, &is, sizeof(is.place)), -EPROTO);
	script_places_free(places);
	scripts_free(scripts);
}

/* HotSpot: a byte for both steps, or 255 and two compressed numbers; offsets may descend. */
static void hotspot_has_steps(void **state)
{
	const uint8_t zero_based[] = { 7, 3, 5 << 3 | 2, 0xff, 0x80, 4, 0 };
	const uint8_t from_one[] = { 7, 3, 5 << 3 | 2, 0xff, 0x81, 5, 0 };

	(void)state;
	assert_int_equal(code_line_at(WIRE_LINES_STEPS, zero_based, sizeof(zero_based), 0, 0), 10);
	assert_int_equal(code_line_at(WIRE_LINES_STEPS, zero_based, sizeof(zero_based), 0, 4), 10);
	assert_int_equal(code_line_at(WIRE_LINES_STEPS, zero_based, sizeof(zero_based), 0, 5), 12);
	/* 128 is 64 on, 4 is 2 on */
	assert_int_equal(code_line_at(WIRE_LINES_STEPS, zero_based, sizeof(zero_based), 0, 68), 12);
	assert_int_equal(code_line_at(WIRE_LINES_STEPS, zero_based, sizeof(zero_based), 0, 69), 14);
	assert_int_equal(code_line_at(WIRE_LINES_STEPS_20, from_one, sizeof(from_one), 0, 69), 14);
	assert_int_equal(code_line_at(WIRE_LINES_STEPS_20, from_one, 4, 0, 69), 12);
	assert_int_equal(code_line_at(WIRE_LINES_STEPS, NULL, 0, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hotspot_has_steps),
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
