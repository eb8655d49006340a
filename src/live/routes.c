// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/routes.h"

#define DEFAULT_SECONDS 30 /* pprof's */

/* The assembler looks from where make runs: the top directory. The Makefile knows what to watch. */
#define FILE(name) "\t.incbin \"src/live/page/" name "\"\n"
#define FILES_AT(name, files)                                                                      \
	extern const char name##_start[], name##_end[];                                            \
	__asm__(".pushsection .rodata\n" #name "_start:\n" files #name                             \
		"_end:\n\t.byte 0\n\t.popsection\n")

FILES_AT(live_css, FILE("live.css"));
FILES_AT(live_js, FILE("view.js") FILE("model.js") FILE("timeline.js") FILE("live.js"));

#define CSS "text/css; charset=utf-8"
#define JS  "text/javascript; charset=utf-8"

static bool find_file(const struct request *request, struct route *route)
{
	const struct {
		const char *path, *type, *start, *end;
	} files[] = {
		{ "/live.css", CSS, live_css_start, live_css_end },
		{ "/live.js", JS, live_js_start, live_js_end },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!slice_is(request->path, files[i].path))
			continue;
		route->kind = ROUTE_FILE;
		route->type = files[i].type;
		route->content = files[i].start;
		route->size = (size_t)(files[i].end - files[i].start);
		return true;
	}
	return false;
}

static int find_stretch(const struct request *request, struct route *route)
{
	int from = request_number(request, "from", UINT64_MAX >> 8, &route->from);
	int to = request_number(request, "to", UINT64_MAX >> 8, &route->to);

	if (from < 0 || to < 0 || (from && !route->from) || (to && route->to < route->from))
		return -400;
	if (to && !from)
		route->from = 1;
	return 0;
}

static int find_format(const struct request *request, struct route *route)
{
	char name[32];

	if (!request_word(request, "format", name, sizeof(name)))
		return -400;
	route->writer = writer_by_name(name);
	return route->writer ? 0 : -400;
}

int route_find(const struct request *request, struct route *ret_route)
{
	struct route route = { .to = UINT64_MAX, .seconds = DEFAULT_SECONDS };
	int r = 0;

	if (slice_is(request->path, "/")) {
		route.kind = ROUTE_PAGE;
	} else if (find_file(request, &route)) {
		r = 0;
	} else if (slice_is(request->path, "/events")) {
		route.kind = ROUTE_EVENTS;
	} else if (slice_is(request->path, "/counts")) {
		route.kind = ROUTE_COUNTS;
		r = find_stretch(request, &route);
	} else if (slice_is(request->path, "/save")) {
		route.kind = ROUTE_SAVE;
		r = find_stretch(request, &route);
		if (r == 0)
			r = find_format(request, &route);
	} else if (slice_is(request->path, "/debug/pprof/profile")) {
		route.kind = ROUTE_PROFILE;
		route.writer = writer_by_name("pprof");
		if (!route.writer)
			r = -501;
		else if (request_number(request, "seconds", ROUTE_MAX_SECONDS, &route.seconds) <
				 0 ||
			 !route.seconds)
			r = -400;
	} else {
		r = -404;
	}
	if (r == 0)
		*ret_route = route;
	return r;
}
