// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "built_files.h"
#include "elf/debug_data.h"
#include "symbolize/debug_file.h"
#include "symbolize/file_symbols.h"

static int n_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* Whether these places have a name for local_one(), which only debug files contain. */
static bool finds_local(const char *program, const struct debug_places *places)
{
	struct symbol_query query = { 0 };
	own(own_confined_free) struct confined *readers = NULL;
	struct file_symbols_request request = { .places = places };
	struct elf_file *elf = NULL;
	char path[256];
	bool found;
	int n = n_descriptors();

	assert_int_equal(confined_new(&confined_limits_default, &readers), 0);
	request.readers = readers;

	snprintf(path, sizeof(path), "%s/%s", built_directory, program);
	request.fd = built_open(program);
	request.path = path;
	assert_int_equal(pool_new(&request.pool), 0);
	assert_int_equal(elf_file_open(request.fd, &elf), 0);
	/* In a position-independent program, addresses of code are offsets in the file. */
	query.address = built_value("whole", "local_one", NULL);
	assert_true(query.address > 0);
	assert_int_equal(file_symbols_find(&request, &query, 1), 0);
	found = query.name && strcmp(query.name, "local_one") == 0;
	assert_true(found || !query.name || strcmp(query.name, "main") != 0);
	elf_file_close(elf);
	close(request.fd);
	pool_free(request.pool);
	confined_free(take_ptr(readers));
	assert_int_equal(n_descriptors(), n);
	return found;
}

static int setup(void **state)
{
	if (built_setup(state))
		return -1;
	built_write("a.c", built_source);
	return built_run("gcc -O1 -g -Wl,--build-id a.c -o whole && "
			 "gcc -O1 -g -Wl,--build-id=none a.c -o whole_no_id && "
			 "gcc -O2 -g -Wl,--build-id -DOTHER -fno-ipa-ra a.c -o other && "
			 "objcopy --only-keep-debug whole whole.debug && "
			 "objcopy --only-keep-debug whole_no_id no_id.debug && "
			 "strip whole -o stripped && strip whole_no_id -o no_id && "
			 "objcopy --add-gnu-debuglink=no_id.debug no_id linked && "
			 "objcopy --add-gnu-debuglink=whole.debug stripped linked_id && "
			 "mkdir parts && mv no_id.debug whole.debug other parts/")
		       ? 0
		       : -1;
}

static void without_debug_files_there_is_no_name(void **state)
{
	struct debug_places places = { .root = built_directory };

	(void)state;
	assert_true(finds_local("whole", &places));
	assert_false(finds_local("stripped", &places));
	assert_false(finds_local("linked", &places));
	assert_false(finds_local("linked_id", &places));
}

static void finds_by_build_id(void **state)
{
	char root[128];
	struct debug_places places = { .root = root };

	(void)state;
	snprintf(root, sizeof(root), "%s/root", built_directory);
	assert_true(built_run("id=$(readelf -n whole | awk '/Build ID/ { print $3 }') && "
			      "mkdir -p root/.build-id/$(echo $id | cut -c1-2) && "
			      "echo root/.build-id/$(echo $id | cut -c1-2)/"
			      "$(echo $id | cut -c3-).debug >place && "
			      "cp parts/whole.debug $(cat place)"));
	assert_true(finds_local("stripped", &places));
	/* Another program's file at that place is not taken. */
	assert_true(built_run("cp parts/other $(cat place)"));
	assert_false(finds_local("stripped", &places));
	assert_true(built_run("cp parts/no_id.debug $(cat place)"));
	assert_false(finds_local("stripped", &places));
	/* A FIFO is not waited for. */
	assert_true(built_run("rm $(cat place) && mkfifo $(cat place)"));
	assert_false(finds_local("stripped", &places));
	assert_true(built_run("rm -r root"));
}

static void finds_by_debug_link(void **state)
{
	char root[128];
	struct debug_places places = { .root = root };

	(void)state;
	snprintf(root, sizeof(root), "%s/root", built_directory);
	assert_true(built_run("cp parts/no_id.debug no_id.debug"));
	assert_true(finds_local("linked", &places));
	assert_true(built_run("mkdir .debug && mv no_id.debug .debug/"));
	assert_true(finds_local("linked", &places));
	assert_true(built_run("mkdir -p root/$PWD && mv .debug/no_id.debug root/$PWD/"));
	assert_true(finds_local("linked", &places));
	/* The CRC is of the whole file. */
	assert_true(built_run("printf x >>root/$PWD/no_id.debug"));
	assert_false(finds_local("linked", &places));
	assert_true(built_run("rm -r root .debug && cp parts/other whole.debug"));
	assert_false(finds_local("linked_id", &places));
	assert_true(built_run("cp parts/whole.debug whole.debug"));
	assert_true(finds_local("linked_id", &places));
	assert_true(built_run("rm whole.debug"));
}

/* A hole is as good as zeros: the CRC is that of gzip, which reads them. */
static void holes_count_as_zeros(void **state)
{
	struct debug_places places = { .root = "/nonexistent" };

	(void)state;
	assert_true(
		built_run("cp parts/no_id.debug holed && truncate -s 20M holed && "
			  "printf x >>holed && truncate -s 23456789 holed && "
			  "cp no_id with_holes && objcopy --add-gnu-debuglink=holed with_holes"));
	assert_true(finds_local("with_holes", &places));
	assert_true(built_run("printf y | dd of=holed bs=1 seek=5000000 conv=notrunc 2>error"));
	assert_false(finds_local("with_holes", &places));
	assert_true(built_run("rm holed with_holes"));
}

/* A file that others can write to must have the CRC, whatever its build-id says. */
static void build_ids_of_writable_files_are_not_enough(void **state)
{
	struct debug_places places = { .root = "/nonexistent" };

	(void)state;
	assert_true(built_run("cp parts/whole.debug whole.debug && chmod 644 whole.debug"));
	assert_true(finds_local("linked_id", &places));
	assert_true(built_run("chmod 666 whole.debug"));
	assert_true(finds_local("linked_id", &places));
	assert_true(built_run("printf x >>whole.debug"));
	assert_false(finds_local("linked_id", &places));
	assert_true(built_run("chmod 644 whole.debug"));
	assert_true(finds_local("linked_id", &places));
	assert_true(built_run("rm whole.debug"));
}

static void a_debug_link_is_only_a_name(void **state)
{
	struct debug_places places = { .root = "/nonexistent" };

	(void)state;
	/* "../parts/no_id.debug": the right file and CRC, but a path that is not allowed. */
	assert_true(
		built_run("mkdir -p sub && cp no_id sub/far && "
			  "objcopy --dump-section .gnu_debuglink=link linked /dev/null && "
			  "{ printf '../parts/no_id.debug\\0\\0\\0\\0'; tail -c 4 link; } >far && "
			  "objcopy --add-section .gnu_debuglink=far sub/far"));
	assert_false(finds_local("sub/far", &places));
	assert_true(built_run("{ printf 'no_id.debug\\0'; tail -c 4 link; } >near && "
			      "objcopy --update-section .gnu_debuglink=near sub/far && "
			      "cp parts/no_id.debug sub/"));
	assert_true(finds_local("sub/far", &places));
}

static void prefers_the_tree_that_is_asked_for(void **state)
{
	char symfs[128];
	struct debug_places places = { .root = "/nonexistent", .symfs = symfs };

	(void)state;
	snprintf(symfs, sizeof(symfs), "%s/symfs", built_directory);
	assert_true(built_run("mkdir -p symfs/$PWD && cp whole symfs/$PWD/stripped"));
	assert_true(finds_local("stripped", &places));
	assert_true(built_run("cp parts/other symfs/$PWD/stripped"));
	assert_false(finds_local("stripped", &places));
	/* Where it has another file, the debug file counts. */
	assert_true(built_run("cp parts/other symfs/$PWD/linked_id && cp parts/whole.debug ."));
	assert_true(finds_local("linked_id", &places));
	assert_true(built_run("rm -r whole.debug symfs"));
}

static void reads_compressed_symbols(void **state)
{
	struct debug_places places = { .root = "/nonexistent" };
	size_t size, whole;
	uint8_t *bytes;

	(void)state;
	if (!built_run("command -v xz"))
		skip();
	assert_true(built_run("objcopy --only-keep-debug --strip-debug whole mini && xz -k mini && "
			      "objcopy --add-section .gnu_debugdata=mini.xz stripped with_mini"));
	assert_true(finds_local("with_mini", &places));

	/* A damaged section gives an error or other bytes, within the limit. */
	bytes = built_read("with_mini", &whole);
	for (size_t i = 0; i < whole; i += 7) {
		struct elf_file *elf = NULL;
		void *data = NULL;

		bytes[i] ^= 0x55;
		if (!elf_file_open_memory(bytes, whole, &elf) &&
		    !debug_data_load(elf, &data, &size))
			assert_true(size <= DEBUG_DATA_MAX_SIZE);
		free(data);
		elf_file_close(elf);
		bytes[i] ^= 0x55;
	}
	free(bytes);
}

static void refuses_data_that_grows_too_large(void **state)
{
	struct elf_file *elf = NULL;
	void *data = NULL;
	size_t size;
	int fd;

	(void)state;
	if (!built_run("command -v xz"))
		skip();
	assert_true(built_run("head -c 200000000 /dev/zero | xz >bomb.xz && "
			      "objcopy --add-section .gnu_debugdata=bomb.xz stripped bomb"));
	fd = built_open("bomb");
	assert_int_equal(elf_file_open(fd, &elf), 0);
	assert_int_equal(debug_data_load(elf, &data, &size), -EFBIG);
	elf_file_close(elf);
	close(fd);
}

static void asks_a_server_only_when_one_is_set(void **state)
{
	struct debuginfod *debuginfod = NULL;
	struct debug_places places = { .root = "/nonexistent" };
	char port[16] = "", cache[128], url[64];
	FILE *file;

	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(debuginfod_new(&debuginfod), -ENOENT);
	if (!built_run("command -v debuginfod-find && command -v python3"))
		skip();
	assert_true(built_run("id=$(readelf -n whole | awk '/Build ID/ { print $3 }') && "
			      "mkdir -p www/buildid/$id && "
			      "cp parts/whole.debug www/buildid/$id/debuginfo && mkfifo port"));
	built_write("serve.py", "import functools, http.server as h\n"
				"s = h.HTTPServer(('127.0.0.1', 0), "
				"functools.partial(h.SimpleHTTPRequestHandler, directory='www'))\n"
				"open('port', 'w').write(str(s.server_port) + '\\n')\n"
				"s.serve_forever()\n");
	assert_true(built_run("python3 serve.py & echo $! >pid"));
	snprintf(cache, sizeof(cache), "%s/port", built_directory);
	file = fopen(cache, "re"); /* until the server has opened it */
	assert_non_null(file);
	assert_non_null(fgets(port, sizeof(port), file));
	fclose(file);
	snprintf(cache, sizeof(cache), "%s/cache", built_directory);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", atoi(port));
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	setenv("DEBUGINFOD_URLS", url, 1);
	assert_int_equal(debuginfod_new(&debuginfod), 0);
	assert_false(finds_local("stripped", &places));
	places.debuginfod = debuginfod;
	assert_true(finds_local("stripped", &places));
	debuginfod_free(debuginfod);
	assert_true(built_run("kill $(cat pid)"));
	unsetenv("DEBUGINFOD_URLS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_debug_files_there_is_no_name),
		cmocka_unit_test(finds_by_build_id),
		cmocka_unit_test(finds_by_debug_link),
		cmocka_unit_test(holes_count_as_zeros),
		cmocka_unit_test(build_ids_of_writable_files_are_not_enough),
		cmocka_unit_test(a_debug_link_is_only_a_name),
		cmocka_unit_test(prefers_the_tree_that_is_asked_for),
		cmocka_unit_test(reads_compressed_symbols),
		cmocka_unit_test(refuses_data_that_grows_too_large),
		cmocka_unit_test(asks_a_server_only_when_one_is_set),
	};

	return cmocka_run_group_tests(tests, setup, built_teardown);
}
