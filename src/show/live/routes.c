// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/routes.h"

#define DEFAULT_SECONDS 30 /* as in Go's net/http/pprof */

/*
 * The page's files are embedded. Paths are relative to the top directory, in which make runs; the
 * Makefile lists the files as what this object depends on.
 */
#define FILE(name) "\t.incbin \"src/show/live/page/" name "\"\n"
#define FILES_AT(name, files)                                                                      \
	extern const char name##_start[], name##_end[];                                            \
	__asm__(".pushsection .rodata\n" #name "_start:\n" files #name                             \
		"_end:\n\t.byte 0\n\t.popsection\n")

FILES_AT(live_css, FILE("live.css"));
FILES_AT(live_js, FILE("view.js") FILE("model.js") FILE("live.js"));

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

static int find_range(const struct request *request, struct route *route)
{
	int from = request_number(request, "from", UINT64_MAX >> 8, &route->from);
	int to = request_number(request, "to", UINT64_MAX >> 8, &route->to);

	if (from < 0 || to < 0 || (from && !route->from))
		return -400;
	if (to && !from)
		route->from = 1;
	return route->to < route->from ? -400 : 0;
}

static int find_format(const struct request *request, struct route *route)
{
	char name[32];

	if (!request_word(request, "format", name, sizeof(name)))
		return -400;
	route->writer = writer_by_name(name);
	return route->writer ? 0 : -400;
}

/* from=A&to=B, or last=N. */
static int find_save(const struct request *request, struct route *route)
{
	int last = request_number(request, "last", ROUTE_MAX_LAST, &route->last);
	int r = find_range(request, route);

	if (last < 0 || (last && (!route->last || route->from)))
		return -400;
	return r < 0 ? r : find_format(request, route);
}

static int find_profile(const struct request *request, struct route *route)
{
	route->writer = writer_by_name("pprof");
	if (!route->writer)
		return -501;
	if (request_number(request, "seconds", ROUTE_MAX_SECONDS, &route->seconds) < 0 ||
	    !route->seconds)
		return -400;
	return 0;
}

/* Scrapers may add parameters of their own to what they ask for, which is no save. */
static const char *const of_range[] = { "from", "to", NULL };
static const char *const of_save[] = { "format", "from", "to", "last", NULL };

static bool has_only_known(const struct request *request, enum route_kind kind)
{
	return kind == ROUTE_COUNTS ? request_has_only(request, of_range)
	       : kind == ROUTE_SAVE ? request_has_only(request, of_save)
				    : true;
}

int route_find(const struct request *request, struct route *ret_route)
{
	struct route route = { .to = UINT64_MAX, .seconds = DEFAULT_SECONDS };
	int r = 0;

	if (slice_is(request->path, "/")) {
		route.kind = ROUTE_PAGE;
	} else if (slice_is(request->path, "/events")) {
		route.kind = ROUTE_EVENTS;
	} else if (slice_is(request->path, "/counts")) {
		route.kind = ROUTE_COUNTS;
		r = find_range(request, &route);
	} else if (slice_is(request->path, "/save")) {
		route.kind = ROUTE_SAVE;
		r = find_save(request, &route);
	} else if (slice_is(request->path, "/debug/pprof/profile")) {
		route.kind = ROUTE_PROFILE;
		r = find_profile(request, &route);
	} else if (!find_file(request, &route)) {
		r = -404;
	}
	if (r < 0)
		return r;
	if (!has_only_known(request, route.kind))
		return -400;
	*ret_route = route;
	return 0;
}
