// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/draw.h"

#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "tui/colours.h"

#define LINE_SIZE 512
#define FOUND	  0xb46cff
#define SELECTED  0xffffff

#define WIDE_COLUMNS 60 /* from here on there is room for the tabs */

static const struct screen_style reversed = { SCREEN_DEFAULT, SCREEN_DEFAULT, SCREEN_REVERSE };
static const struct screen_style bold = { SCREEN_DEFAULT, SCREEN_DEFAULT, SCREEN_BOLD };
static const struct screen_style dim = { SCREEN_DEFAULT, SCREEN_DEFAULT, SCREEN_DIM };

/* 1234567 as 1,234,567 */
static const char *grouped(uint64_t value, char *buffer, size_t size)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	size_t at = 0;

	for (int i = 0; i < n && at + 2 < size; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = digits[i];
	}
	buffer[at] = '\0';
	return buffer;
}

/* A count with the unit `ns` is shown as a time; others without their unit. */
static const char *bare(uint64_t value, const char *unit, char *buffer, size_t size)
{
	return strcmp(unit, "ns") == 0 ? duration_text(value, buffer, size)
				       : grouped(value, buffer, size);
}

/* The unit that follows such a count, and a blank before it. */
static const char *unit_behind(const char *unit, char *buffer, size_t size)
{
	snprintf(buffer, size, strcmp(unit, "ns") == 0 ? "" : " %s", unit);
	return buffer;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- the lines above and below */

/* The title, which is cut if the line is too long, the numbers, and the tabs. */
static void draw_head(struct screen *screen, const struct browser *browser,
		      const struct draw_status *status)
{
	static const char *const tabs[] = { " Flame graph ", " Top " };
	uint32_t columns = screen_columns(screen), right = columns, used, width;
	char line[LINE_SIZE], samples[DURATION_SIZE], lost[32], unit[32];

	for (uint32_t i = 2; i-- > 0 && columns >= WIDE_COLUMNS;) {
		width = (uint32_t)strlen(tabs[i]);
		right -= width;
		screen_put(screen, 0, right, width, tabs[i],
			   i == browser->tab ? reversed : SCREEN_PLAIN);
	}
	snprintf(line, sizeof(line), "%.0f s  %s%s  %s lost%s%s ", status->seconds,
		 bare(status->samples, status->unit, samples, sizeof(samples)),
		 unit_behind(status->unit, unit, sizeof(unit)),
		 grouped(status->lost, lost, sizeof(lost)), status->ended ? "  [ended]" : "",
		 browser->frozen ? "  [frozen]" : "");
	width = (uint32_t)strlen(line) + 2;
	used = width < right ? screen_put(screen, 0, 0, right - width, status->title, bold) + 2 : 0;
	screen_put(screen, 0, used, right - used, line, bold);
}

static void draw_selected(struct screen *screen, const struct browser *browser, const char *unit,
			  uint32_t row)
{
	const struct flame_tree *tree = browser->tree;
	const struct flame_node *node = &tree->nodes[browser->selected];
	const struct flame_frame *frame = &browser->frames[node->frame];
	char line[LINE_SIZE], total[DURATION_SIZE], self[DURATION_SIZE], behind[32];
	char zoomed[64] = "";
	uint32_t columns = screen_columns(screen), used;

	if (browser->zoom)
		snprintf(zoomed, sizeof(zoomed), " (%.2f%% of the zoom)",
			 percent(node->total, tree->nodes[browser->zoom].total));
	snprintf(line, sizeof(line), "%s%s, %.2f%%%s, self %s  ",
		 bare(node->total, unit, total, sizeof(total)),
		 unit_behind(unit, behind, sizeof(behind)),
		 percent(node->total, tree->nodes[0].total), zoomed,
		 bare(node->self, unit, self, sizeof(self)));
	used = screen_put(screen, row, 0, columns, line, bold);
	used += screen_put(screen, row, used, columns - used, frame->name, SCREEN_PLAIN);
	if (frame->module[0] && used + 2 < columns)
		screen_put(screen, row, used + 1, columns - used - 1, frame->module, dim);
}

static void draw_foot(struct screen *screen, const struct browser *browser, uint32_t row)
{
	uint32_t columns = screen_columns(screen), used;
	char line[LINE_SIZE];

	if (browser->prompting) {
		used = screen_put(screen, row, 0, columns, "/", bold);
		used += screen_put(screen, row, used, columns - used, browser->prompt,
				   SCREEN_PLAIN);
		screen_put(screen, row, used, 1, " ", reversed);
		return;
	}
	if (browser->message[0]) {
		screen_put(screen, row, 0, columns, browser->message, bold);
		return;
	}
	if (browser->search) {
		used = screen_put(screen, row, 0, columns, "/", bold);
		used += screen_put(screen, row, used, columns - used, search_text(browser->search),
				   bold);
		snprintf(line, sizeof(line), "  matched %.2f%%  n N next, previous  Esc clear",
			 percent(browser->matched, browser->tree->nodes[browser->zoom].total));
		screen_put(screen, row, used, columns - used, line, SCREEN_PLAIN);
		return;
	}
	screen_put(screen, row, 0, columns,
		   browser->tab == BROWSER_FLAME
			   ? "hjkl move  Enter zoom  Esc back  / search  Tab top list  i flip"
			     "  z freeze  ? help  q quit"
			   : "jk move  Enter show  1 by total  2 by self  / search  Tab flame graph"
			     "  z freeze  ? help  q quit",
		   dim);
}

/* ---- the graph */

static struct screen_style style_of(const struct screen *screen, const struct browser *browser,
				    uint32_t node_number)
{
	const struct flame_node *node = &browser->tree->nodes[node_number];
	const struct flame_frame *frame = &browser->frames[node->frame];
	struct screen_style style = colours_of(frame, screen_colours(screen));
	bool found = search_finds(browser->search, frame - browser->frames);

	if (screen_colours(screen) == SCREEN_COLOURS_NONE) {
		style.attributes |= found ? SCREEN_BOLD | SCREEN_UNDERLINE : 0;
		style.attributes |= node_number == browser->selected ? SCREEN_REVERSE : 0;
		return style;
	}
	if (found)
		style.background = FOUND;
	/* Ancestors of the zoomed node are dimmed. */
	if (node_number < browser->zoom)
		style.attributes |= SCREEN_DIM;
	if (node_number == browser->selected) {
		style.background = SELECTED;
		style.foreground = found ? 0x7000c0 : 0x000000;
		style.attributes = SCREEN_BOLD;
	}
	return style;
}

/* With few colours, neighbours may have the same: a line separates them. */
static void draw_box(struct screen *screen, const struct browser *browser,
		     const struct layout_box *box, uint32_t row)
{
	struct screen_style style = style_of(screen, browser, box->node);
	const struct flame_node *node = &browser->tree->nodes[box->node];
	uint32_t column = box->column, width = box->width;

	if (screen_colours(screen) < SCREEN_COLOURS_256 && column > 0) {
		screen_put(screen, row, column, 1, screen_utf8(screen) ? "\xe2\x94\x82" : "|",
			   style);
		column++;
		width--;
	}
	if (width > 2) { /* separates the names */
		screen_put(screen, row, column + width - 1, 1, " ", style);
		width--;
	}
	/* One or two letters of a name say nothing. */
	if (width > 0)
		screen_put(screen, row, column, width,
			   box->width < 3 ? "" : browser->frames[node->frame].name, style);
}

static void draw_graph(struct screen *screen, const struct browser *browser)
{
	const struct box_layout *layout = &browser->layout;

	for (uint32_t i = 0; i < layout->n; i++) {
		const struct layout_box *box = &layout->boxes[i];
		uint32_t line = box->row - browser->scroll;

		if (box->row < browser->scroll || line >= browser->rows)
			continue;
		draw_box(screen, browser, box, browser->upwards ? browser->rows - line : line + 1);
	}
}

/* ---- the list */

static void draw_list_row(struct screen *screen, const struct browser *browser, const char *unit,
			  uint32_t number, uint32_t row)
{
	const struct top_row *top = &browser->top.rows[number];
	const struct flame_frame *frame = &browser->frames[top->frame];
	uint64_t whole = browser->tree->nodes[0].total;
	struct screen_style style = SCREEN_PLAIN;
	uint32_t columns = screen_columns(screen), used;
	char line[LINE_SIZE], self[DURATION_SIZE], total[DURATION_SIZE];

	if (search_finds(browser->search, top->frame)) {
		style.foreground = FOUND;
		style.attributes |= SCREEN_BOLD;
	}
	if (number == browser->top_selected)
		style.attributes |= SCREEN_REVERSE;
	snprintf(line, sizeof(line), "%12s %6.2f%%  %12s %6.2f%%  ",
		 bare(top->total, unit, total, sizeof(total)), percent(top->total, whole),
		 bare(top->self, unit, self, sizeof(self)), percent(top->self, whole));
	used = screen_put(screen, row, 0, columns, line, style);
	used += screen_put(screen, row, used, columns - used, frame->name, style);
	if (frame->module[0] && used + 2 < columns) {
		style.attributes |= SCREEN_DIM;
		screen_put(screen, row, used + 1, columns - used - 1, frame->module, style);
	}
}

static void draw_list(struct screen *screen, const struct browser *browser, const char *unit)
{
	char titles[LINE_SIZE];

	snprintf(titles, sizeof(titles), "%12s %7s  %12s %7s  %s",
		 browser->by_total ? "[1 total]" : "1 total", "",
		 browser->by_total ? "2 self" : "[2 self]", "", "function");
	screen_put(screen, 1, 0, screen_columns(screen), titles, bold);
	for (uint32_t line = 1; line < browser->rows; line++) {
		uint32_t number = browser->top_scroll + line - 1;

		if (number >= browser->top.n)
			break;
		draw_list_row(screen, browser, unit, number, line + 1);
	}
}

/* ---- help, and all */

static void draw_help(struct screen *screen)
{
	static const char *const lines[] = {
		"h j k l, arrows    select the box beside, below, above",
		"f b, PgDn PgUp     move by a page",
		"g G, Home End      move to the top, to the bottom",
		"Enter              zoom into the box, or out on one above; in the list: show it",
		"Esc                zoom out; clear the search",
		"r                  zoom out, clear the search, select the root",
		"/                  search for a regular expression (in either case without "
		"capitals)",
		"#                  search for the selected function",
		"n N                select the next, previous match",
		"Tab                switch between flame graph and top list",
		"1 2                sort the list by total, by self",
		"i                  flip the graph: icicle, flame",
		"z                  freeze the picture; the measurement goes on",
		"Ctrl-L Ctrl-Z      redraw; suspend until fg",
		"q, Ctrl-C          end the measurement; here, q closes this help",
	};

	for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		screen_put(screen, i + 2, 2, screen_columns(screen), lines[i], SCREEN_PLAIN);
}

void draw(struct screen *screen, const struct browser *browser, const struct draw_status *status)
{
	uint32_t rows = screen_rows(screen);
	char none[40];

	snprintf(none, sizeof(none), "%s %s%s", browser->tree ? "no" : "waiting for",
		 status->events, browser->tree && !status->ended ? " yet" : "");
	screen_clear(screen);
	if (browser->help)
		draw_help(screen);
	else if (browser->tree && browser->tree->nodes[0].total == 0)
		screen_put(screen, 2, 2, screen_columns(screen), none, SCREEN_PLAIN);
	else if (browser->tree && browser->tab == BROWSER_FLAME)
		draw_graph(screen, browser);
	else if (browser->tree)
		draw_list(screen, browser, status->unit);
	else
		screen_put(screen, 2, 2, screen_columns(screen), none, SCREEN_PLAIN);
	draw_head(screen, browser, status);
	if (rows < DRAW_OTHER_ROWS + 1)
		return;
	if (browser->tree && browser->tab == BROWSER_FLAME && !browser->help)
		draw_selected(screen, browser, status->unit, rows - 2);
	draw_foot(screen, browser, rows - 1);
}
