// SPDX-License-Identifier: GPL-2.0-or-later
/* From names to files, and the dynamic linker's cache, real and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "built_files.h"
#include "trigger/ld_cache.h"
#include "trigger/library.h"

static void found_at(const char *name, pid_t pid, const char *ending)
{
	struct error err = { 0 };
	struct library library;
	struct stat by_fd, by_path;
	size_t n = strlen(ending);

	if (library_find(name, pid, &library, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_true(strlen(library.path) >= n);
	assert_string_equal(library.path + strlen(library.path) - n, ending);
	assert_int_equal(fstat(library.fd, &by_fd), 0);
	assert_int_equal(stat(library.fd_path, &by_path), 0);
	assert_int_equal(by_fd.st_ino, by_path.st_ino);
	library_clear(&library);
}

static void not_found(const char *name, pid_t pid, const char *message)
{
	struct error err = { 0 };
	struct library library;

	assert_true(library_find(name, pid, &library, &err) < 0);
	assert_non_null(strstr(err.text, message));
}

static void names_paths_and_executables_are_found(void **state)
{
	char path[128];

	(void)state;
	found_at("c", 0, "/libc.so.6");
	found_at("libc.so.6", 0, "/libc.so.6");
	found_at("sh", 0, "/sh");
	found_at("/bin/sh", 0, "/bin/sh");
	built_write("plain", "x");
	snprintf(path, sizeof(path), "%s/plain", built_directory);
	found_at(path, 0, path);
}

static bool is_odd(const struct library *library, void *path)
{
	return strcmp(library->path, path) == 0;
}

/* /proc/PID/maps has a newline as \012, and more than one " (deleted)" may be in a path. */
static void paths_of_mapped_files_are_as_they_were(void **state)
{
	char directory[160], path[200];
	struct library library = { .fd = -1 };
	void *code;
	uint32_t n;
	int fd;

	(void)state;
	snprintf(directory, sizeof(directory), "%s/a (deleted)", built_directory);
	assert_int_equal(mkdir(directory, 0700), 0);
	snprintf(path, sizeof(path), "%s/b\nc.so", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "code", 4), 4);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(library_find_mapped(getpid(), is_odd, path, &library, &n), 0);
	library_clear(&library);
	assert_int_equal(unlink(path), 0);
	if (geteuid() == 0) { /* by the names of mappings, which take a capability */
		assert_int_equal(library_find_mapped(getpid(), is_odd, path, &library, &n), 0);
		library_clear(&library);
	}
	munmap(code, 4096);
	close(fd);
	assert_int_equal(rmdir(directory), 0);
}

static void names_of_mapped_files_have_many_forms(void **state)
{
	(void)state;
	assert_true(library_name_fits("/lib/x86_64-linux-gnu/libc.so.6", "c"));
	assert_true(library_name_fits("/lib/ld-musl-x86_64.so.1", "c"));
	assert_true(library_name_fits("/lib/ld-musl-x86_64.so.1", "libpthread"));
	assert_true(library_name_fits("/lib/libc.musl-x86_64.so.1", "libc.so"));
	assert_false(library_name_fits("/lib/ld-musl-x86_64.so.1", "ssl"));
	assert_false(library_name_fits("/lib64/ld-linux-x86-64.so.2", "c"));
	assert_true(library_name_fits("/memfd:dynprobes", "dynprobes"));
	assert_false(library_name_fits("/memfd:dynprobes", "memfd"));
}

/* It stands for reports that a probe is set in another file than the process runs. */
static void what_a_process_maps_is_known(void **state)
{
	struct library library;

	(void)state;
	assert_int_equal(library_find("c", getpid(), &library, NULL), 0);
	assert_true(library.mapped);
	library_clear(&library);
	assert_int_equal(library_find("/bin/sh", getpid(), &library, NULL), 0);
	assert_false(library.mapped);
	library_clear(&library);
}

static void a_process_s_own_mappings_come_first(void **state)
{
	(void)state;
	found_at("c", getpid(), "/libc.so.6");
	found_at("test_library", getpid(), "/test_library");
	not_found("c", 0x7ffffffe, "no such process");
}

/* /proc is ours: that of a process in a container has other ids. */
static void paths_through_proc_are_found(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/proc/%d/exe", getpid());
	found_at(path, 0, path);
	found_at(path, getpid(), path);
	snprintf(path, sizeof(path), "/proc/%d/root/bin/sh", getpid());
	found_at(path, getpid(), path);
	not_found("/proc/self/nosuch", getpid(), "unable to find library /proc/self/nosuch");
}

static void errors_name_what_is_missing(void **state)
{
	char path[128];

	(void)state;
	not_found("nosuchlibrary", 0, "unable to find library nosuchlibrary");
	not_found("", 0, "unable to find library ");
	not_found("/no/such/file", 0, "unable to find library /no/such/file");
	not_found("/tmp", 0, "unable to find library /tmp");
	assert_true(built_run("mkfifo fifo"));
	snprintf(path, sizeof(path), "%s/fifo", built_directory);
	not_found(path, 0, "not a regular file"); /* and its open does not wait for the other end */
	not_found("/dev/zero", 0, "not a regular file");
}

static void mapped_names_are_told_apart(void **state)
{
	(void)state;
	assert_true(library_name_fits("/lib/libc.so.6", "c"));
	assert_true(library_name_fits("/lib/libc-2.31.so", "c"));
	assert_false(library_name_fits("/lib/libcrypt.so.1", "c"));
	assert_false(library_name_fits("/lib/libc-client.so", "c"));
	assert_true(library_name_fits("/opt/node/bin/node", "node"));
	assert_true(library_name_fits("/lib/libssl.so.3", "libssl.so.3"));
	assert_true(library_name_fits("/lib/libssl.so.3", "libssl.so"));
	assert_false(library_name_fits("/lib/libssl.so.3", "libssl.so.1"));
}

static size_t read_cache(char **ret_bytes)
{
	FILE *file = fopen("/etc/ld.so.cache", "re");
	char *bytes = malloc(1 << 22);
	size_t n;

	assert_non_null(file);
	n = fread(bytes, 1, 1 << 22, file);
	assert_true(n > 48 && n < 1 << 22);
	fclose(file);
	*ret_bytes = bytes;
	return n;
}

static void the_real_cache_is_read(void **state)
{
	char *bytes;
	size_t n = read_cache(&bytes);
	const char *path = ld_cache_find(bytes, n, "libc.so");

	(void)state;
	assert_non_null(path);
	assert_string_equal(strrchr(path, '/'), "/libc.so.6");
	assert_int_equal(access(path, R_OK), 0);
	assert_null(ld_cache_find(bytes, n, "libc.s"));
	assert_null(ld_cache_find(bytes, n, "libnosuch.so"));
	free(bytes);
}

/* The old format before the new one, as `ldconfig -c compat` writes it. */
static void the_old_header_is_skipped(void **state)
{
	char *bytes, *whole;
	size_t n = read_cache(&bytes);
	const char *path;

	(void)state;
	whole = calloc(1, n + 16 + 2 * 12);
	memcpy(whole, "ld.so-1.7.0", 12);
	whole[12] = 2;
	memcpy(whole + 40, bytes, n);
	path = ld_cache_find(whole, n + 40, "libc.so");
	assert_non_null(path);
	assert_string_equal(strrchr(path, '/'), "/libc.so.6");
	free(whole);
	free(bytes);
}

static void a_cut_cache_is_harmless(void **state)
{
	char *bytes;
	size_t n = read_cache(&bytes);

	(void)state;
	for (size_t cut = 0; cut < n; cut += cut < 4096 ? 1 : 997) {
		char *piece = malloc(
			cut ? cut : 1); /* a block of its own: a sanitizer sees reads past it */
		const char *path;

		memcpy(piece, bytes, cut);
		path = ld_cache_find(piece, cut, "libc.so");
		assert_true(!path || (path >= piece && path + strlen(path) < piece + cut));
		free(piece);
	}
	free(bytes);
}

static void wrong_counts_and_offsets_are_harmless(void **state)
{
	char *bytes, *copy;
	size_t n = read_cache(&bytes);

	(void)state;
	copy = malloc(n);
	for (size_t at = 0; at < 48 + 24 * 4; at += 4) {
		static const uint32_t lies[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };

		for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			const char *path;

			memcpy(copy, bytes, n);
			memcpy(copy + at, &lies[i], sizeof(lies[i]));
			path = ld_cache_find(copy, n, "libc.so");
			assert_true(!path || path[0] == '/');
		}
	}
	free(copy);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_paths_and_executables_are_found),
		cmocka_unit_test(paths_of_mapped_files_are_as_they_were),
		cmocka_unit_test(names_of_mapped_files_have_many_forms),
		cmocka_unit_test(what_a_process_maps_is_known),
		cmocka_unit_test(a_process_s_own_mappings_come_first),
		cmocka_unit_test(paths_through_proc_are_found),
		cmocka_unit_test(errors_name_what_is_missing),
		cmocka_unit_test(mapped_names_are_told_apart),
		cmocka_unit_test(the_real_cache_is_read),
		cmocka_unit_test(the_old_header_is_skipped),
		cmocka_unit_test(a_cut_cache_is_harmless),
		cmocka_unit_test(wrong_counts_and_offsets_are_harmless),
	};

	return cmocka_run_group_tests(tests, built_setup, built_teardown);
}
