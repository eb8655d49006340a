// SPDX-License-Identifier: GPL-2.0-or-later
/* The terminal's flame graph without a terminal: keys, cells, boxes, commands. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tui/browser.h"
#include "tui/draw.h"
#include "tui/keys.h"
#include "tui/terminal.h"

/* ---- keys */

static uint32_t key_of(const char *bytes, size_t expected_size)
{
	uint32_t key = 0;

	assert_int_equal(keys_decode(bytes, strlen(bytes), true, &key), expected_size);
	return key;
}

static void test_keys(void **state)
{
	uint32_t key = 0;

	(void)state;
	assert_int_equal(key_of("q", 1), 'q');
	assert_int_equal(key_of("\xc3\xa9x", 2), 0xe9);
	assert_int_equal(key_of("\r", 1), KEY_ENTER);
	assert_int_equal(key_of("\x7f", 1), KEY_BACKSPACE);
	assert_int_equal(key_of("\x03", 1), KEY_INTERRUPT);
	assert_int_equal(key_of("\x1a", 1), KEY_SUSPEND);
	assert_int_equal(key_of("\033[A", 3), KEY_UP);
	assert_int_equal(key_of("\033OB", 3), KEY_DOWN);
	assert_int_equal(key_of("\033[1;5C", 6), KEY_RIGHT);
	assert_int_equal(key_of("\033[5~", 4), KEY_PAGE_UP);
	assert_int_equal(key_of("\033[Z", 3), KEY_BACK_TAB);
	assert_int_equal(key_of("\033", 1), KEY_ESCAPE);
	assert_int_equal(key_of("\033q", 1), KEY_ESCAPE);
	assert_int_equal(key_of("\033[200~", 6), KEY_NONE);
	assert_int_equal(key_of("\xff", 1), KEY_NONE);
	/* A sequence that may continue is not decoded yet. */
	assert_int_equal(keys_decode("\033", 1, false, &key), 0);
	assert_int_equal(keys_decode("\033[1", 3, false, &key), 0);
	assert_int_equal(keys_decode("\xc3", 1, false, &key), 0);
}

/* ---- cells */

static struct screen *a_screen(enum screen_colours colours, bool utf8, uint32_t rows,
			       uint32_t columns)
{
	struct screen *screen = NULL;

	assert_int_equal(screen_new(colours, utf8, &screen), 0);
	assert_int_equal(screen_resize(screen, rows, columns), 0);
	return screen;
}

/* The output of a flush; the caller frees it. */
static char *shown(struct screen *screen)
{
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	assert_non_null(out);
	screen_flush(screen, out);
	assert_int_equal(fclose(out), 0);
	return bytes;
}

static void test_cells(void **state)
{
	own(own_screen_free) struct screen *screen = a_screen(SCREEN_COLOURS_NONE, true, 2, 8);
	own(own_free) char *first = NULL, *second = NULL, *third = NULL;

	(void)state;
	assert_int_equal(screen_put(screen, 0, 0, 8, "abc", SCREEN_PLAIN), 3);
	assert_int_equal(screen_put(screen, 1, 0, 4, "abcdef", SCREEN_PLAIN), 4);
	assert_int_equal(screen_character(screen, 1, 3), 0x2026);
	/* Wide characters take two cells or none. */
	assert_int_equal(screen_put(screen, 1, 4, 4, "\xe6\xbc\xa2\xe5\xad\x97", SCREEN_PLAIN), 4);
	assert_int_equal(screen_character(screen, 1, 4), 0x6f22);
	assert_int_equal(screen_character(screen, 1, 5), 0);
	assert_int_equal(screen_put(screen, 1, 4, 3, "\xe6\xbc\xa2\xe5\xad\x97", SCREEN_PLAIN), 2);
	/* Text outside of the screen is ignored. */
	assert_int_equal(screen_put(screen, 2, 0, 4, "x", SCREEN_PLAIN), 0);
	assert_int_equal(screen_put(screen, 0, 8, 4, "x", SCREEN_PLAIN), 0);
	first = shown(screen);
	assert_non_null(strstr(first, "abc"));
	/* Only changed cells are drawn. */
	second = shown(screen);
	assert_string_equal(second, "\033[0m");
	screen_put(screen, 0, 1, 1, "X", SCREEN_PLAIN);
	third = shown(screen);
	assert_string_equal(third, "\033[1;2H\033[0mX\033[0m");
}

/* Names cannot add escape sequences to the output. */
static void test_hostile_names(void **state)
{
	static const char *const names[] = {
		"a\033]0;title\007b",
		"\033[2J\033[31m",
		"\xc2\x9b"
		"31m",
		"\xe2\x80\xae"
		"abc",
		"x\r\n\t\b\x7fy",
		"\x9b"
		"2J",
		"\xf4\x90\x80\x80\xff",
		"\xe2\x80\x8b\xef\xbb\xbf",
		"\033P1$r\033\\",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		own(own_screen_free) struct screen *screen =
			a_screen(SCREEN_COLOURS_NONE, i % 2 == 0, 1, 20);
		own(own_free) char *bytes = NULL;

		screen_put(screen, 0, 0, 20, names[i], SCREEN_PLAIN);
		bytes = shown(screen);
		for (const char *at = bytes; *at; at++) {
			if (*at == '\033') {
				/* CSI, digits and semicolons, and one of three letters. */
				assert_int_equal(*++at, '[');
				at += 1 + strspn(at + 1, "0123456789;");
				assert_non_null(strchr("HJm", *at));
				continue;
			}
			assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
			assert_false((unsigned char)*at == 0xc2 && (unsigned char)at[1] < 0xa0);
			assert_memory_not_equal(at, "\xe2\x80\xae", 2);
		}
	}
}

static void expect_colours(enum screen_colours colours, const char *expected)
{
	own(own_screen_free) struct screen *screen = a_screen(colours, true, 1, 1);
	own(own_free) char *bytes = NULL;

	screen_put(screen, 0, 0, 1, "x", (struct screen_style){ 0x101010, 0xec8a48, 0 });
	bytes = shown(screen);
	assert_non_null(strstr(bytes, expected));
}

static void test_colours(void **state)
{
	(void)state;
	expect_colours(SCREEN_COLOURS_NONE, "\033[0mx");
	expect_colours(SCREEN_COLOURS_16, "\033[0;30;4");
	expect_colours(SCREEN_COLOURS_256, "\033[0;38;5;233;48;5;209mx");
	expect_colours(SCREEN_COLOURS_ALL, "\033[0;38;2;16;16;16;48;2;236;138;72mx");
}

static void test_abilities(void **state)
{
	struct terminal_capabilities can;

	(void)state;
	assert_false(
		terminal_capabilities_of(NULL, "truecolor", NULL, "C.UTF-8").cursor_addressing);
	assert_false(terminal_capabilities_of("dumb", NULL, NULL, NULL).cursor_addressing);
	can = terminal_capabilities_of("xterm-256color", NULL, NULL, "de_DE.utf8");
	assert_true(can.cursor_addressing && can.utf8 && can.colours == SCREEN_COLOURS_256);
	can = terminal_capabilities_of("xterm-256color", "truecolor", "", "C");
	assert_true(!can.utf8 && can.colours == SCREEN_COLOURS_ALL);
	assert_int_equal(terminal_capabilities_of("xterm", "24bit", "1", NULL).colours,
			 SCREEN_COLOURS_NONE);
	assert_int_equal(terminal_capabilities_of("linux", NULL, NULL, NULL).colours,
			 SCREEN_COLOURS_16);
	assert_int_equal(terminal_capabilities_of("vt220", NULL, NULL, NULL).colours,
			 SCREEN_COLOURS_NONE);
}

/* ---- a tree: all(100) > a(60: self 10) > b(40), c(10); d(39); e(1) */

static struct flame_frame frames[] = {
	{ .name = "all", .module = "", .kind = FLAME_ROOT },
	{ .name = "alpha", .module = "m", .kind = FLAME_USER },
	{ .name = "beta", .module = "m", .kind = FLAME_CPP },
	{ .name = "gamma", .module = "[kernel]", .kind = FLAME_KERNEL },
	{ .name = "delta", .module = "m", .kind = FLAME_USER },
	{ .name = "Echo", .module = "m", .kind = FLAME_USER },
};

static struct flame_node nodes[] = {
	{ .id = 1, .total = 100, .frame = 0, .end = 7 },
	{ .id = 2, .self = 10, .total = 60, .frame = 1, .end = 4, .depth = 1 },
	{ .id = 3, .self = 40, .total = 40, .frame = 2, .end = 3, .parent = 1, .depth = 2 },
	{ .id = 4, .self = 10, .total = 10, .frame = 3, .end = 4, .parent = 1, .depth = 2 },
	{ .id = 5, .self = 20, .total = 39, .frame = 4, .end = 6, .depth = 1 },
	{ .id = 6, .self = 19, .total = 19, .frame = 4, .end = 6, .parent = 4, .depth = 2 },
	{ .id = 7, .self = 1, .total = 1, .frame = 5, .end = 7, .depth = 1 },
};

static const struct flame_tree tree = { .nodes = nodes, .n_nodes = 7, .max_depth = 2 };

/* The same a second later: a and its children have other indices. */
static struct flame_node later_nodes[] = {
	{ .id = 1, .total = 200, .frame = 0, .end = 5 },
	{ .id = 9, .self = 100, .total = 100, .frame = 5, .end = 2, .depth = 1 },
	{ .id = 2, .self = 10, .total = 100, .frame = 1, .end = 5, .depth = 1 },
	{ .id = 8, .self = 10, .total = 10, .frame = 5, .end = 4, .parent = 2, .depth = 2 },
	{ .id = 4, .self = 80, .total = 80, .frame = 3, .end = 5, .parent = 2, .depth = 2 },
};

static const struct flame_tree later = { .nodes = later_nodes, .n_nodes = 5, .max_depth = 2 };

static void press(struct browser *browser, const char *keys)
{
	for (; *keys; keys++)
		assert_int_equal(browser_key(browser, *keys == '\r'   ? KEY_ENTER
						      : *keys == '\t' ? KEY_TAB
						      : *keys == '\a' ? KEY_ESCAPE
								      : (uint32_t)*keys),
				 BROWSER_GO_ON);
}

static void expect_selected(const struct browser *browser, const char *name)
{
	assert_string_equal(browser->frames[browser->tree->nodes[browser->selected].frame].name,
			    name);
}

static struct browser a_browser(void)
{
	struct browser browser = { 0 };

	assert_int_equal(browser_resize(&browser, 10, 50), 0);
	assert_int_equal(browser_update(&browser, &tree, frames, 6), 0);
	return browser;
}

static void test_layout(void **state)
{
	static const struct layout_box expected[] = { { 0, 0, 0, 50 },	{ 1, 1, 0, 30 },
						      { 2, 2, 0, 20 },	{ 3, 2, 20, 5 },
						      { 4, 1, 30, 19 }, { 5, 2, 30, 9 } };
	struct box_layout layout = { 0 };

	(void)state;
	assert_int_equal(box_layout_make(&layout, &tree, 0, 50), 0);
	/* Echo, 1 of 100, begins and ends in one cell's middle but for the last one. */
	assert_int_equal(layout.n, 7);
	assert_int_equal(layout.boxes[6].column, 49);
	for (uint32_t i = 0; i < 6; i++)
		assert_memory_equal(&layout.boxes[i], &expected[i], sizeof(expected[i]));
	assert_int_equal(box_layout_make(&layout, &tree, 0, 10), 0);
	assert_int_equal(box_layout_find(&layout, 3), 3);
	assert_int_equal(box_layout_make(&layout, &tree, 0, 2), 0);
	assert_int_equal(box_layout_find(&layout, 2), BOX_NONE);
	assert_int_equal(layout.boxes[box_layout_find_near(&layout, &tree, 2)].node, 1);
	assert_int_equal(layout.boxes[box_layout_find_near(&layout, &tree, 5)].node, 0);
	/* Zoomed: callers fill the width, siblings are not drawn. */
	assert_int_equal(box_layout_make(&layout, &tree, 1, 60), 0);
	assert_int_equal(layout.n, 4);
	assert_int_equal(layout.boxes[0].width, 60);
	assert_int_equal(layout.boxes[1].width, 60);
	assert_int_equal(layout.boxes[3].column, 40);
	assert_int_equal(layout.boxes[3].width, 10);
	box_layout_clear(&layout);
}

static void test_top(void **state)
{
	struct top_list list;

	(void)state;
	assert_int_equal(top_list_make(&tree, frames, 6, false, NULL, &list), 0);
	assert_int_equal(list.n, 5);
	assert_int_equal(list.rows[0].frame, 2);
	/* delta calls itself: its total counts once, its self of both frames */
	assert_int_equal(list.rows[1].frame, 4);
	assert_int_equal(list.rows[1].self, 39);
	assert_int_equal(list.rows[1].total, 39);
	top_list_clear(&list);
	assert_int_equal(top_list_make(&tree, frames, 6, true, NULL, &list), 0);
	assert_int_equal(list.rows[0].frame, 1);
	top_list_clear(&list);
}

static void test_moves(void **state)
{
	struct browser browser = a_browser();

	(void)state;
	expect_selected(&browser, "all");
	press(&browser, "j");
	expect_selected(&browser, "alpha");
	press(&browser, "l");
	expect_selected(&browser, "delta");
	press(&browser, "hj");
	expect_selected(&browser, "beta");
	press(&browser, "l");
	expect_selected(&browser, "gamma");
	press(&browser, "k\r");
	assert_int_equal(browser.zoom, 1);
	expect_selected(&browser, "alpha");
	press(&browser, "l"); /* no box there */
	expect_selected(&browser, "alpha");
	press(&browser, "k\r");
	assert_int_equal(browser.zoom, 0);
	press(&browser, "j\r\a");
	assert_int_equal(browser.zoom, 0);
	/* With the root at the bottom, up is away from it. */
	press(&browser, "gik");
	expect_selected(&browser, "alpha");
	press(&browser, "i");
	assert_int_equal(browser_key(&browser, '?'), BROWSER_GO_ON);
	assert_true(browser.help);
	assert_int_equal(browser_key(&browser, 'q'), BROWSER_GO_ON); /* closes the help */
	assert_false(browser.help);
	assert_int_equal(browser_key(&browser, '?'), BROWSER_GO_ON);
	assert_int_equal(browser_key(&browser, KEY_INTERRUPT), BROWSER_QUIT);
	assert_int_equal(browser_key(&browser, '?'), BROWSER_GO_ON);
	assert_int_equal(browser_key(&browser, 'q'), BROWSER_QUIT);
	assert_int_equal(browser_key(&browser, KEY_INTERRUPT), BROWSER_QUIT);
	browser_clear(&browser);
}

static void test_search(void **state)
{
	struct browser browser = a_browser();

	(void)state;
	press(&browser, "/^(ALPHA|delta)$\r");
	assert_int_equal(browser.matched, 39); /* a pattern with capitals is case-sensitive */
	press(&browser, "/^(alpha|delta)$\r");
	assert_int_equal(browser.matched, 99);
	press(&browser, "n");
	expect_selected(&browser, "alpha");
	press(&browser, "n");
	expect_selected(&browser, "delta");
	press(&browser, "N");
	expect_selected(&browser, "alpha");
	press(&browser, "/a(\r");
	assert_non_null(strstr(browser.message, "not a regular expression"));
	assert_int_equal(browser.matched, 99); /* the previous search */
	press(&browser, "\a");
	assert_null(browser.search);
	press(&browser, "/echq");
	assert_int_equal(browser_key(&browser, KEY_BACKSPACE), 0);
	press(&browser, "o\r");
	assert_int_equal(browser.matched, 1);
	press(&browser, "gj#");
	assert_int_equal(browser.matched, 60);
	press(&browser, "r");
	expect_selected(&browser, "all");
	assert_null(browser.search);
	browser_clear(&browser);
}

static void test_list_keys(void **state)
{
	struct browser browser = a_browser();

	(void)state;
	press(&browser, "\tj");
	assert_int_equal(browser.tab, BROWSER_TOP);
	press(&browser, "1");
	assert_true(browser.by_total);
	/* The selection follows its function to the new order. */
	assert_int_equal(browser.top.rows[browser.top_selected].frame, 4);
	press(&browser, "\r");
	assert_int_equal(browser.tab, BROWSER_FLAME);
	expect_selected(&browser, "delta");
	assert_int_equal(browser.matched, 39);
	/* The list has what a search finds. */
	press(&browser, "\t/^alpha$\r");
	assert_int_equal(browser.top.n, 1);
	assert_int_equal(browser.top.rows[0].frame, 1);
	press(&browser, "/nothing\rjkn");
	assert_int_equal(browser.top.n, 0);
	press(&browser, "\a");
	assert_int_equal(browser.top.n, 5);
	browser_clear(&browser);
}

static void test_update(void **state)
{
	struct browser browser = a_browser();

	(void)state;
	press(&browser, "jjl");
	expect_selected(&browser, "gamma");
	press(&browser, "k\rj");
	expect_selected(&browser, "beta");
	assert_int_equal(browser_update(&browser, &later, frames, 6), 0);
	/* The zoom is where it was; beta is gone, so its caller is selected. */
	assert_int_equal(browser.zoom, 2);
	expect_selected(&browser, "alpha");
	assert_int_equal(browser_update(&browser, &tree, frames, 6), 0);
	assert_int_equal(browser.zoom, 1);
	browser_clear(&browser);
}

static void test_picture(void **state)
{
	const struct draw_status status = { .title = "profile of an event with a long name",
					    .seconds = 3,
					    .samples = 1234567,
					    .unit = "samples",
					    .events = "samples" };
	own(own_screen_free) struct screen *screen = a_screen(SCREEN_COLOURS_NONE, false, 13, 50);
	struct browser browser = a_browser();
	own(own_free) char *bytes = NULL;

	(void)state;
	draw(screen, &browser, &status);
	bytes = shown(screen);
	/* The title is cut to make room for the numbers. */
	assert_non_null(strstr(bytes, "profile of an"));
	assert_non_null(strstr(bytes, "3 s  1,234,567 samples  0 lost"));
	assert_int_equal(screen_character(screen, 1, 0), 'a');
	assert_int_equal(screen_character(screen, 2, 0), 'a');
	assert_int_equal(screen_character(screen, 2, 30), '|');
	assert_int_equal(screen_character(screen, 2, 31), 'd');
	assert_int_equal(screen_character(screen, 3, 1), 'e');
	assert_int_equal(screen_style(screen, 1, 5).attributes, SCREEN_REVERSE);
	assert_int_equal(screen_style(screen, 2, 5).attributes, 0);
	press(&browser, "ij");
	draw(screen, &browser, &status);
	assert_int_equal(screen_character(screen, 10, 0), 'a');
	/* Sizes without room for any content. */
	for (uint32_t rows = 0; rows < 5; rows++) {
		for (uint32_t columns = 0; columns < 5; columns++) {
			own(own_free) char *tiny = NULL;

			assert_int_equal(screen_resize(screen, rows, columns), 0);
			assert_int_equal(browser_resize(&browser, rows > 3 ? rows - 3 : 0, columns),
					 0);
			press(&browser, "jklhfbgG\tjG\t");
			draw(screen, &browser, &status);
			tiny = shown(screen);
			assert_non_null(tiny);
		}
	}
	browser_clear(&browser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),	      cmocka_unit_test(test_cells),
		cmocka_unit_test(test_hostile_names), cmocka_unit_test(test_colours),
		cmocka_unit_test(test_abilities),     cmocka_unit_test(test_layout),
		cmocka_unit_test(test_top),	      cmocka_unit_test(test_moves),
		cmocka_unit_test(test_search),	      cmocka_unit_test(test_list_keys),
		cmocka_unit_test(test_update),	      cmocka_unit_test(test_picture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
