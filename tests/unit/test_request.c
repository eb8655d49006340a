// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live/routes.h"

#define HOST "Host: 127.0.0.1:4711\r\n"

static int parse(const char *text, struct request *ret_request)
{
	return request_parse(text, strlen(text), ret_request);
}

static void a_request_is_complete_after_its_empty_line(void **state)
{
	static const char text[] = "GET /abc/save?format=svg&from=2 HTTP/1.1\r\n" HOST
				   "Origin:  http://127.0.0.1:4711 \r\nAccept: */*\r\n\r\nmore";
	size_t size = sizeof(text) - 1 - strlen("more");
	struct request request;

	(void)state;
	for (size_t i = 0; i < size; i++)
		assert_int_equal(request_parse(text, i, &request), 0);
	assert_int_equal(request_parse(text, sizeof(text) - 1, &request), size);
	assert_true(slice_is(request.path, "/abc/save"));
	assert_true(slice_is(request.query, "format=svg&from=2"));
	assert_true(slice_is(request.host, "127.0.0.1:4711"));
	assert_true(slice_is(request.origin, "http://127.0.0.1:4711"));
	assert_false(request.head);
	assert_true(request_host_is_literal(&request));
	assert_true(request_is_same_origin(&request));
}

static void malformed_requests_are_refused(void **state)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {
		{ "GET / HTTP/1.1\n", 400 },
		{ "GET /\r\n", 400 },
		{ "GET  / HTTP/1.1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1 \r\n\r\n", 400 },
		{ "GET / HTTP/2.0\r\n\r\n", 505 },
		{ "GET / HTTP/11.1\r\n\r\n", 400 },
		{ "\r\n\r\n", 400 },
		{ "G(T / HTTP/1.1\r\n\r\n", 400 },
		{ "GET http://a/ HTTP/1.1\r\n\r\n", 400 },
		{ "GET * HTTP/1.1\r\n\r\n", 400 },
		{ "GET /\x01 HTTP/1.1\r\n\r\n", 400 },
		{ "GET /\xc3\xa4 HTTP/1.1\r\n\r\n", 400 },
		{ "GET /#x HTTP/1.1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST "X\rY: 1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST " folded: 1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST "No colon\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST "Space : 1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST ": 1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello", 400 },
		{ "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 501 },
		{ "POST / HTTP/1.1\r\n" HOST "\r\n", 405 },
		{ "DELETE / HTTP/1.1\r\n" HOST "\r\n", 405 },
		{ "get / HTTP/1.1\r\n" HOST "\r\n", 405 },
	};
	struct request request = { .head = true };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (parse(cases[i].text, &request) != -cases[i].status)
			fail_msg("%s: %d", cases[i].text, parse(cases[i].text, &request));
	assert_true(request.head);
}

static void long_requests_are_refused(void **state)
{
	char text[REQUEST_MAX_SIZE + 1];
	struct request request;
	size_t n;

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_int_equal(request_parse(text, REQUEST_MAX_SIZE - 1, &request), 0);
	assert_int_equal(request_parse(text, REQUEST_MAX_SIZE, &request), -414);
	memcpy(text, "GET /", 5);
	memcpy(text + 4000, " HTTP/1.1\r\n", 11);
	assert_int_equal(request_parse(text, 4011, &request), -414);
	memcpy(text, "GET / HTTP/1.1\r\nX: ", 19);
	memset(text + 19, 'a', sizeof(text) - 19);
	assert_int_equal(request_parse(text, REQUEST_MAX_SIZE, &request), -431);
	n = (size_t)sprintf(text, "GET / HTTP/1.1\r\n");
	for (int i = 0; i < 100; i++)
		n += (size_t)sprintf(text + n, "X: %d\r\n", i);
	assert_int_equal(request_parse(text, n, &request), 0);
	n += (size_t)sprintf(text + n, "X: 100\r\n");
	assert_int_equal(request_parse(text, n, &request), -431);
}

static void host_names_are_refused(void **state)
{
	static const struct {
		const char *host;
		bool plain;
	} cases[] = {
		{ "localhost", true },	  { "localhost:80", true },
		{ "127.0.0.1", true },	  { "127.0.0.1:65535", true },
		{ "10.1.2.3:1", true },	  { "[::1]", true },
		{ "[::1]:4711", true },	  { "", false },
		{ "example.com", false }, { "127.0.0.1.example.com", false },
		{ "localhost.", false },  { "127.0.0.1:", false },
		{ "127.0.0.1:a", false }, { "127.0.0.1:123456", false },
		{ "0x7f.1", false },	  { "2130706433", false },
		{ "[::1", false },	  { "::1", false },
		{ "a@127.0.0.1", false }, { "127.0.0.1/x", false },
		{ "[127.0.0.1]", false }, { "1.2.3.4:80:80", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct request request = {
			.host = { cases[i].host, strlen(cases[i].host) },
		};

		if (request_host_is_literal(&request) != cases[i].plain)
			fail_msg("%s", cases[i].host);
	}
}

static void foreign_origins_are_refused(void **state)
{
	static const char *const foreign[] = { "null",
					       "",
					       "http://127.0.0.1",
					       "https://127.0.0.1:4711",
					       "http://127.0.0.1:4711/",
					       "http://127.0.0.1:47111",
					       "http://evil.example" };
	struct request request = { .host = { "127.0.0.1:4711", 14 } };

	(void)state;
	assert_true(request_is_same_origin(&request));
	request.origin = (struct slice){ "http://127.0.0.1:4711", 21 };
	assert_true(request_is_same_origin(&request));
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		request.origin = (struct slice){ foreign[i], strlen(foreign[i]) };
		assert_false(request_is_same_origin(&request));
	}
}

static int find(const char *path, const char *query, struct route *ret_route)
{
	const struct request request = { .path = { path, strlen(path) },
					 .query = { query, strlen(query) } };

	return route_find(&request, ret_route);
}

static void routes_have_bounds(void **state)
{
	static const struct {
		const char *path, *query;
		int status;
	} refused[] = {
		{ "/no", "", 404 },
		{ "//", "", 404 },
		{ "/../etc/passwd", "", 404 },
		{ "/save", "", 400 },
		{ "/save", "format=", 400 },
		{ "/save", "format=none", 400 },
		{ "/save", "format=..%2f", 400 },
		{ "/save", "format=svg&from=0", 400 },
		{ "/save", "format=svg&from=5&to=4", 400 },
		{ "/save", "format=svg&from=-1", 400 },
		{ "/save", "format=svg&from=99999999999999999999", 400 },
		{ "/counts", "from=1&to=1e3", 400 },
		{ "/counts", "from=+1", 400 },
		{ "/debug/pprof/profile", "seconds=0", 400 },
		{ "/debug/pprof/profile", "seconds=601", 400 },
		{ "/debug/pprof/profile", "seconds=18446744073709551617", 400 },
		{ "/debug/pprof/heap", "", 404 },
	};
	struct route route = { .seconds = 7 };

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (find(refused[i].path, refused[i].query, &route) != -refused[i].status)
			fail_msg("%s?%s", refused[i].path, refused[i].query);
	assert_int_equal(route.seconds, 7);
	assert_int_equal(find("/", "", &route), 0);
	assert_int_equal(route.kind, ROUTE_PAGE);
	assert_int_equal(find("/save", "format=html&last=300", &route), 0);
	assert_int_equal(route.last, 300);
	assert_int_equal(find("/save", "format=html&las=300", &route), -400);
	assert_int_equal(find("/save", "format=html&last=0", &route), -400);
	assert_int_equal(find("/save", "format=html&last=3&from=1", &route), -400);
	assert_int_equal(find("/save", "format=html&x", &route), -400);
	assert_int_equal(find("/counts", "from=1&to=2&last=3", &route), -400);
	assert_int_equal(find("/debug/pprof/profile", "x=1&seconds=5&seconds=9", &route), 0);
	assert_int_equal(route.kind, ROUTE_PROFILE);
	assert_int_equal(route.seconds, 5);
	assert_string_equal(route.writer->name, "pprof");
	assert_int_equal(find("/save", "to=9&format=recording", &route), 0);
	assert_int_equal(route.from, 1);
	assert_int_equal(route.to, 9);
	assert_string_equal(route.writer->name, "recording");
	assert_int_equal(find("/live.js", "", &route), 0);
	assert_int_equal(route.kind, ROUTE_FILE);
	assert_true(route.size > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_complete_after_its_empty_line),
		cmocka_unit_test(malformed_requests_are_refused),
		cmocka_unit_test(long_requests_are_refused),
		cmocka_unit_test(host_names_are_refused),
		cmocka_unit_test(foreign_origins_are_refused),
		cmocka_unit_test(routes_have_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
