// SPDX-License-Identifier: GPL-2.0-or-later
/* USDT notes, as <sys/sdt.h> leaves them in a program, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "built_files.h"
#include "elf/usdt_notes.h"
#include "trigger/kinds.h"
#include "trigger/sites.h"

static const char *const SOURCE = "#define _SDT_HAS_SEMAPHORES 1\n"
				  "#include <sys/sdt.h>\n"
				  "#define SEMAPHORE __attribute__((section(\".probes\")))\n"
				  "SEMAPHORE unsigned short demo_gated_semaphore, "
				  "demo_twice_semaphore, other_gated_semaphore;\n"
				  "int main(int n, char **v)\n"
				  "{ (void)v;\n"
				  "	STAP_PROBE1(demo, gated, n);\n"
				  "	STAP_PROBE(demo, twice); if (n) STAP_PROBE(demo, twice);\n"
				  "	STAP_PROBE(other, gated); return 0; }\n";

static int setup(void **state)
{
	if (built_setup(state) != 0)
		return -1;
	built_write("program.c", SOURCE);
	return built_run("gcc -O1 -o program program.c && "
			 "gcc -O1 -no-pie -o fixed program.c && "
			 "objcopy -O binary --only-section=.note.stapsdt --set-section-flags "
			 ".note.stapsdt=alloc program notes")
		       ? 0
		       : -1;
}

static int find(const char *pattern, struct probes **ret_probes, struct error *err)
{
	struct spec spec;
	char text[300];
	int rc;

	snprintf(text, sizeof(text), "u:%s/%s", built_directory, pattern);
	assert_int_equal(spec_parse(text, false, &spec, err), 0);
	rc = usdt_kind.make(&spec, 0, ret_probes, err);
	spec_clear(&spec);
	return rc;
}

static void probes_are_found_at_their_sites(void **state)
{
	static const struct {
		const char *pattern;
		uint32_t sites;
	} cases[] = {
		{ "program:gated", 2 },	      { "program:demo:gated", 1 },
		{ "program:twice", 2 },	      { "program:*", 4 },
		{ "program:d*:*", 3 },	      { "fixed:demo:gated", 1 },
		{ "program:other:?ated", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = { 0 };
		struct probes *probes = NULL;
		const struct sites *sites;

		if (find(cases[i].pattern, &probes, &err) < 0)
			fail_msg("%s: %s", cases[i].pattern, err.text);
		sites = (const struct sites *)probes;
		assert_int_equal(sites->n, cases[i].sites);
		assert_false(probes->trigger.user_entry);
		for (uint32_t j = 0; j < sites->n; j++) {
			uint8_t byte = 0, semaphore[2] = { 1, 1 };

			/* The probe is a nop, and the semaphore is zero in the file. */
			assert_int_equal(pread(sites->library.fd, &byte, 1,
					       (off_t)sites->items[j].offset),
					 1);
#if defined(__x86_64__)
			assert_int_equal(byte, 0x90);
#endif
			assert_true(sites->items[j].semaphore != 0);
			assert_int_equal(pread(sites->library.fd, semaphore, 2,
					       (off_t)sites->items[j].semaphore),
					 2);
			assert_int_equal(semaphore[0] | semaphore[1], 0);
		}
		trigger_free(&probes->trigger);
	}
}

static void errors_name_what_is_missing(void **state)
{
	struct error err = { 0 };
	struct probes *probes = NULL;

	(void)state;
	assert_true(find("program:gatedd", &probes, &err) < 0);
	assert_non_null(strstr(err.text, "No functions matched by pattern ^gatedd$"));
	assert_non_null(strstr(err.text, "did you mean gated?"));
	assert_true(find("program:nobody:gated", &probes, &err) < 0);
	assert_true(find("program.c:gated", &probes, &err) < 0);
	assert_non_null(strstr(err.text, "not an ELF file"));
	assert_true(built_run("echo 'int main(){return 0;}' > bare.c && gcc -o bare bare.c"));
	assert_true(find("bare:gated", &probes, &err) < 0);
	assert_non_null(strstr(err.text, "has no USDT probes"));
	assert_null(probes);
}

static size_t read_notes(uint8_t **ret_bytes)
{
	char path[128];
	FILE *file;
	uint8_t *bytes = malloc(65536);
	size_t n;

	snprintf(path, sizeof(path), "%s/notes", built_directory);
	file = fopen(path, "re");
	assert_non_null(file);
	n = fread(bytes, 1, 65536, file);
	fclose(file);
	*ret_bytes = bytes;
	return n;
}

static uint32_t count(const uint8_t *bytes, size_t size)
{
	uint8_t *copy =
		malloc(size ? size : 1); /* a block of its own: a sanitizer sees reads past it */
	struct usdt_note note;
	size_t offset = 0;
	uint32_t n = 0;

	memcpy(copy, bytes, size);
	while (usdt_notes_next(copy, size, true, &offset, &note)) {
		assert_true(strlen(note.provider) < size && strlen(note.name) < size);
		n++;
	}
	free(copy);
	return n;
}

static void damaged_notes_are_harmless(void **state)
{
	uint8_t *bytes;
	size_t n = read_notes(&bytes);

	(void)state;
	assert_int_equal(count(bytes, n), 4);
	for (size_t cut = 0; cut < n; cut++)
		assert_true(count(bytes, cut) <= 4);
	for (size_t at = 0; at < n; at++) {
		static const uint8_t lies[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
		uint8_t was = bytes[at];

		for (size_t i = 0; i < sizeof(lies); i++) {
			bytes[at] = lies[i];
			assert_true(count(bytes, n) <= 4);
		}
		bytes[at] = was;
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_are_found_at_their_sites),
		cmocka_unit_test(errors_name_what_is_missing),
		cmocka_unit_test(damaged_notes_are_harmless),
	};

	return cmocka_run_group_tests(tests, setup, built_teardown);
}
