// SPDX-License-Identifier: GPL-2.0-or-later
/* push/: URLs, back-off, responses of servers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "push/backoff.h"
#include "push/response.h"
#include "push/target.h"

static void urls(void **state)
{
	static const struct {
		const char *url, *host, *port, *path;
		enum push_protocol protocol;
		bool tls;
	} cases[] = {
		{ "http://a.b:4040", "a.b", "4040", "/v1/pprof", PUSH_PPROF, false },
		{ "pprof+https://a/", "a", "443", "/v1/pprof", PUSH_PPROF, true },
		{ "pyroscope+http://[::1]:1", "::1", "1", "/push.v1.PusherService/Push",
		  PUSH_PYROSCOPE, false },
		{ "otlp+https://a", "a", "443", "/v1development/profiles", PUSH_OTLP, true },
		{ "otlp+http://10.0.0.1:4318/x/y?z=1", "10.0.0.1", "4318", "/x/y?z=1", PUSH_OTLP,
		  false },
		{ "http://[fe80::1]", "fe80::1", "80", "/v1/pprof", PUSH_PPROF, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target target;

		assert_int_equal(target_parse(cases[i].url, &target, NULL), 0);
		assert_string_equal(target.host, cases[i].host);
		assert_string_equal(target.port, cases[i].port);
		assert_string_equal(target.path, cases[i].path);
		assert_int_equal(target.protocol, cases[i].protocol);
		assert_int_equal(target.tls, cases[i].tls);
	}
}

static void wrong_urls(void **state)
{
	static const char *const wrong[] = {
		"",
		"a",
		"a:80",
		"ftp://a",
		"http://",
		"http:///x",
		"http://a:0",
		"http://a:65536",
		"http://a:b",
		"http://a:",
		"http://user:secret@a",
		"http://a b",
		"http://a/b c",
		"http://a/\r\nX: y",
		"http://[::1",
		"http://[a]:1",
		"http://[::1]1",
		"http://a#b",
		"tcp+http://a",
		"pyroscope+",
		"http://a?x",
		"http://\xc3\xa4",
	};
	char large[4000] = "http://a/";
	struct target target;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error err = { 0 };

		assert_int_equal(target_parse(wrong[i], &target, &err), -EINVAL);
		assert_int_equal(err.exit_class, EXIT_CLASS_USAGE);
		assert_null(strstr(err.text, "secret"));
	}
	memset(large + 9, 'x', sizeof(large) - 10);
	assert_int_equal(target_parse(large, &target, NULL), -EINVAL);
	memset(large + 7, 'x', 1000);
	assert_int_equal(target_parse(large, &target, NULL), -EINVAL);
}

static void waits_grow(void **state)
{
	struct backoff backoff = { 0 };
	uint32_t full = BACKOFF_FIRST_MS;

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint32_t wait = backoff_failed(&backoff, 0, (uint32_t)rand());

		assert_in_range(wait, full / 2, full);
		full = 2 * full > BACKOFF_LAST_MS ? BACKOFF_LAST_MS : 2 * full;
	}
	backoff_succeeded(&backoff);
	assert_in_range(backoff_failed(&backoff, 0, 7), BACKOFF_FIRST_MS / 2, BACKOFF_FIRST_MS);
	assert_in_range(backoff_failed(&backoff, 7000, 7), 7000, 7999);
	assert_in_range(backoff_failed(&backoff, UINT64_MAX, 7), BACKOFF_ASKED_MS,
			BACKOFF_ASKED_MS + 999);
}

/* The result is the same however the bytes are cut. */
static int take(struct response *response, const char *text, size_t piece)
{
	size_t size = strlen(text);

	response_start(response);
	for (size_t at = 0; at < size && !response->complete; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		int r = response_take(response, text + at, n, 784111777);

		if (r < 0)
			return r;
	}
	return response->complete ? 0 : response_end(response);
}

static void responses(void **state)
{
	static const struct {
		const char *text, *body;
		int status;
		uint64_t retry_after_s;
	} cases[] = {
		{ "HTTP/1.1 204 No Content\r\n\r\n", "", 204, 0 },
		{ "HTTP/1.0 200\r\n\r\nabc", "abc", 200, 0 },
		{ "HTTP/1.1 200 OK\nContent-Length: 2\n\nabc", "ab", 200, 0 },
		{ "HTTP/1.1 429 Slow\r\nretry-after:  7 \r\nContent-Length: 0\r\n\r\n", "", 429,
		  7 },
		{ "HTTP/1.1 503 x\r\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT\r\n\r\n", "", 503,
		  60 },
		{ "HTTP/1.1 503 x\r\nRetry-After: Sun, 06 Nov 1994 08:00:00 GMT\r\n\r\n", "", 503,
		  0 },
		{ "HTTP/1.1 503 x\r\nRetry-After: soon\r\n\r\n", "", 503, 0 },
		{ "HTTP/1.1 503 x\r\nRetry-After: 99999999999999999999999999\r\n\r\n", "", 503,
		  UINT64_C(1) << 50 },
		{ "HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
		  "\r\nz",
		  "z", 200, 0 },
		{ "HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n"
		  "A\r\n0123456789\r\n0\r\n\r\n",
		  "abc0123456789", 400, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t piece = 1; piece < 200; piece++) {
			struct response response;

			assert_int_equal(take(&response, cases[i].text, piece), 0);
			assert_int_equal(response.status, cases[i].status);
			assert_int_equal(response.retry_after_s, cases[i].retry_after_s);
			assert_string_equal(response.body, cases[i].body);
		}
	}
}

static void no_responses(void **state)
{
	static const char *const wrong[] = {
		"",
		"x",
		"220 ESMTP\r\n\r\n",
		"HTTP/2 200 OK\r\n\r\n",
		"HTTP/1.1 99 OK\r\n\r\n",
		"HTTP/1.1 600 OK\r\n\r\n",
		"HTTP/1.1 2000 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"\r\n\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1234567890abcdef\r\n",
	};
	static char endless[2 * RESPONSE_HEAD_MAX];
	struct response response;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		for (size_t piece = 1; piece < 100; piece++)
			assert_int_equal(take(&response, wrong[i], piece), -EPROTO);
	memset(endless, 'x', sizeof(endless) - 1);
	memcpy(endless, "HTTP/1.1 200 ", 13);
	assert_int_equal(take(&response, endless, 1000), -EPROTO);
}

/* Of a long body the beginning is kept, and nothing more is waited for. */
static void long_body(void **state)
{
	char piece[1000];
	struct response response;

	(void)state;
	response_start(&response);
	memset(piece, 'x', sizeof(piece));
	assert_int_equal(response_take(&response, "HTTP/1.1 500 x\r\n\r\n", 18, 0), 0);
	assert_false(response.complete);
	assert_int_equal(response_take(&response, piece, sizeof(piece), 0), 0);
	assert_true(response.complete);
	assert_int_equal(strlen(response.body), RESPONSE_BODY_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls),		cmocka_unit_test(wrong_urls),
		cmocka_unit_test(waits_grow),	cmocka_unit_test(responses),
		cmocka_unit_test(no_responses), cmocka_unit_test(long_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
