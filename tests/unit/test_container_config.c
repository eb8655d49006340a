// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "containers/container_config.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static struct container_texts read_as(enum container_file kind, const char *text)
{
	struct container_texts texts = { 0 };

	container_config_read(kind, text, strlen(text), &texts);
	return texts;
}

static void runtimes(void **state)
{
	struct container_texts texts = read_as(
		CONTAINER_OCI,
		"{\"ociVersion\":\"1.0\",\"process\":{\"args\":[\"a\",{\"Name\":\"no\"}],\"n\":-1."
		"5e3},"
		"\"annotations\":{\"io.kubernetes.cri.container-name\":\"web\","
		"\"io.kubernetes.cri.sandbox-name\":\"shop-1\",\"other\":{\"x\":[true,null]},"
		"\"io.kubernetes.cri.sandbox-namespace\":\"prod\","
		"\"io.kubernetes.cri.sandbox-uid\":\"u\",\n"
		"\"io.kubernetes.cri.image-name\":\"docker.io/"
		"shop:1\"},\"linux\":{},\"annotations\":"
		"{\"nerdctl/name\":\"no\"}}");

	(void)state;
	assert_string_equal(texts.of[CONTAINER_POD_CONTAINER], "web");
	assert_string_equal(texts.of[CONTAINER_POD], "shop-1");
	assert_string_equal(texts.of[CONTAINER_NAMESPACE], "prod");
	assert_string_equal(texts.of[CONTAINER_POD_UID], "u");
	assert_string_equal(texts.of[CONTAINER_IMAGE], "docker.io/shop:1");
	assert_string_equal(texts.of[CONTAINER_NAME], ""); /* the rest is not read */
	texts = read_as(
		CONTAINER_DOCKER,
		"{ \"State\" : { } , \"Config\" : { \"Image\" : \"nginx:1\" , \"Labels\" : { "
		"\"io.kubernetes.pod.name\":\"p\"}}, \"Name\" : \"\\/web\\u00e9\\ud83d\\ude00\" }");
	assert_string_equal(texts.of[CONTAINER_NAME], "web\xc3\xa9\xf0\x9f\x98\x80");
	assert_string_equal(texts.of[CONTAINER_IMAGE], "nginx:1");
	assert_string_equal(texts.of[CONTAINER_POD], "p");
	texts = read_as(CONTAINER_SANDBOX, "{\"x\":[],\"hostname\":\"shop-1\",\"Name\":\"no\"}");
	assert_string_equal(texts.of[CONTAINER_POD], "shop-1");
	assert_string_equal(texts.of[CONTAINER_NAME], "");
}

/* The last element, and how many there were. */
struct found {
	uint32_t n;
	struct container_listed last;
};

static void find(void *context, const struct container_listed *listed)
{
	struct found *found = context;

	found->n++;
	found->last = *listed;
}

static struct found read_list(const char *text, size_t size)
{
	struct found found = { 0 };

	container_list_read(text, size, find, &found);
	return found;
}

static void a_list(void **state)
{
	static const char text[] =
		"[{\"id\":\"bb\",\"names\":[\"no\"]},{\"id\":\"" ID_A "\"},7,"
		"{\"names\":[\"web\",\"second\"],\"id\":\"" ID_B "\",\"metadata\":"
		"\"{\\\"image-name\\\":\\\"localhost/\\\\\\\"x:1\\\"}\"},"
		"{\"id\":\"" ID_A "b\"},{\"id\":\"../../" ID_A "\"}]";
	struct found found = read_list(text, strlen(text));

	(void)state;
	assert_int_equal(found.n, 2);
	assert_string_equal(found.last.id, ID_B);
	assert_string_equal(found.last.name, "web");
	assert_string_equal(found.last.image, "localhost/\"x:1");
}

/* There is no end of containers in it. */
static void a_long_list(void **state)
{
	static const char element[] = "{\"id\":\"" ID_A "\"},";
	size_t each = strlen(element), n = 2 * CONTAINER_LIST_MAX;
	char *text = malloc(n * each + 1);

	(void)state;
	assert_non_null(text);
	text[0] = '[';
	for (size_t i = 0; i < n; i++)
		memcpy(text + 1 + i * each, element, each);
	assert_int_equal(read_list(text, n * each).n, CONTAINER_LIST_MAX);
	free(text);
}

static void hostile(void **state)
{
	static const char *const others[] = {
		"",
		"{",
		"[",
		"{\"Name\"",
		"{\"Name\":",
		"{\"Name\":\"",
		"{\"Name\":\"\\",
		"{\"Name\":\"\\u12",
		"{\"Name\":7}",
		"{\"Name\":[\"x\"]}",
		"{\"annotations\":\"x\"}",
		"}",
		"]",
		"null",
		"{]",
		"{\"Config\":7,\"Labels\":1}",
		"{:::}",
		"[[[[",
		"[7,\"x\",{\"id\":7}]",
		"{\"\":{\"Name\":\"x\"}}",
	};
	struct container_texts texts, none = { 0 };
	size_t size = 4 << 20;
	char *text = malloc(size + 1);

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		texts = read_as((enum container_file)(i % CONTAINER_N_FILES), others[i]);
		assert_memory_equal(texts.of[CONTAINER_NAME], none.of[CONTAINER_NAME], 1);
		assert_int_equal(read_list(others[i], strlen(others[i])).n, 0);
	}
	texts = read_as(CONTAINER_DOCKER, "{\"Name\":\"a\\u001b[2J\\n\x7f\\u0000b\"}");
	assert_string_equal(texts.of[CONTAINER_NAME], "a?[2J??\xef\xbf\xbd"
						      "b");
	/* Nested four million times; a name of four million letters. */
	memset(text, '[', size);
	memcpy(text, "{\"x\":", 5);
	text[size] = '\0';
	texts = read_as(CONTAINER_DOCKER, text);
	assert_string_equal(texts.of[CONTAINER_NAME], "");
	memset(text, 'x', size);
	memcpy(text, "{\"Name\":\"", 9);
	memcpy(text + size - 2, "\"}", 2);
	texts = read_as(CONTAINER_DOCKER, text);
	assert_int_equal(strlen(texts.of[CONTAINER_NAME]), CONTAINER_TEXT_SIZE - 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtimes),
		cmocka_unit_test(a_list),
		cmocka_unit_test(a_long_list),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
