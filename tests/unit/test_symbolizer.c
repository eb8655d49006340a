// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "built_files.h"
#include "process/images.h"
#include "symbolize/symbolizer.h"

/* All that a symbolizer needs to name addresses of this process. */
struct fixture {
	struct images *images;
	struct symbolizer *symbolizer;
	struct tally *tally;
	struct names *names;
	uint32_t image;
};

__attribute__((noinline)) static int local_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

/* Ends with a call: the return address is the first byte of the next function. */
__asm__(".text\n.p2align 4\n.type ends_with_a_call, @function\n.globl ends_with_a_call\n"
	"ends_with_a_call: nop\nnop\nnop\nnop\n.size ends_with_a_call, . - ends_with_a_call\n"
	".type comes_after, @function\n.globl comes_after\n"
	"comes_after: nop\nret\n.size comes_after, . - comes_after\n");
void ends_with_a_call(void);
void comes_after(void);

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void start(struct fixture *fixture, pid_t pid, const struct symbolizer_options *options)
{
	memset(fixture, 0, sizeof(*fixture));
	assert_int_equal(images_new(NULL, &fixture->images), 0);
	assert_int_equal(images_at(fixture->images, pid, 0, now_ns(), &fixture->image), 0);
	assert_int_not_equal(fixture->image, IMAGE_NONE);
	assert_int_equal(symbolizer_new(fixture->images, options, &fixture->symbolizer), 0);
	assert_int_equal(tally_new(0, 0, &fixture->tally), 0);
	assert_int_equal(names_new(&fixture->names), 0);
}

static void end(struct fixture *fixture)
{
	names_free(fixture->names);
	tally_free(fixture->tally);
	symbolizer_free(fixture->symbolizer);
	images_free(fixture->images);
}

static uint32_t add(struct fixture *fixture, uint32_t image, uint64_t address, uint32_t flags)
{
	const struct tally_address entry = { address, image, flags };
	uint32_t id;

	assert_int_equal(tally_address(fixture->tally, &entry, &id), 0);
	return id;
}

static void resolve(struct fixture *fixture)
{
	struct error err = { 0 };

	assert_int_equal(symbolizer_resolve(fixture->symbolizer, fixture->tally, fixture->names,
					    &err),
			 0);
	assert_int_equal(names_n_addresses(fixture->names), tally_n_addresses(fixture->tally));
}

/* The last frame of an address: the function that contains the code. */
static const struct names_frame *frame_of(const struct fixture *fixture, uint32_t id)
{
	static struct names_frame frames[8]; /* a test uses at most 8 at a time */
	static unsigned int next;
	struct names_address address = names_address(fixture->names, id);

	assert_true(address.n >= 1);
	next = (next + 1) % 8;
	frames[next] = names_frame(fixture->names, address.first + address.n - 1);
	return &frames[next];
}

/*
 * Notes the largest total, and the number of calls in the last pass. A second pass looks up
 * addresses that no file names.
 */
static void note_progress(void *context, uint32_t done, uint32_t total)
{
	uint32_t *seen = context;

	if (done == 0)
		seen[2] = 0;
	assert_int_equal(done, seen[2]);
	if (total > seen[1])
		seen[1] = total;
	seen[2]++;
}

static void tells_its_progress(void **state)
{
	uint32_t seen[3] = { 0 };
	const struct symbolizer_options options = { .progress = note_progress,
						    .progress_context = seen };
	struct fixture fixture;

	(void)state;
	start(&fixture, getpid(), &options);
	add(&fixture, fixture.image, (uintptr_t)local_function + 1, TALLY_ADDRESS_EXACT);
	add(&fixture, fixture.image, (uintptr_t)strtod + 2, 0);
	resolve(&fixture);
	assert_int_equal(seen[1], 2);
	assert_int_equal(seen[2], 2);
	end(&fixture);
}

extern char __executable_start, etext; /* of the linker */

/* Addresses of two files alternate, but each file is read once. */
static void each_file_is_read_once(void **state)
{
	uint32_t seen[3] = { 0 }, own, library, n = 0;
	const struct symbolizer_options options = { .progress = note_progress,
						    .progress_context = seen };
	struct fixture fixture;

	(void)state;
	start(&fixture, getpid(), &options);
	library = add(&fixture, fixture.image, (uintptr_t)strtod + 2, 0);
	for (uintptr_t at = 0x10000; at < (uintptr_t)(&etext - &__executable_start);
	     at += 0x10000) {
		add(&fixture, fixture.image, (uintptr_t)&__executable_start + at, 0);
		add(&fixture, fixture.image, (uintptr_t)strtod - 0x20000 + n++ * 0x2000, 0);
	}
	own = add(&fixture, fixture.image, (uintptr_t)local_function + 1, TALLY_ADDRESS_EXACT);
	assert_true(n > 4);
	resolve(&fixture);
	/* The second pass reads the process's list of generated code. */
	assert_in_range(seen[1], 2, 3);
	assert_string_equal(frame_of(&fixture, own)->name, "local_function");
	assert_string_equal(frame_of(&fixture, library)->module, "libc.so.6");
	end(&fixture);
}

static void names_outlive_the_symbolizer(void **state)
{
	struct fixture fixture;
	uint32_t leaf;

	(void)state;
	start(&fixture, getpid(), NULL);
	leaf = add(&fixture, fixture.image, (uintptr_t)local_function, TALLY_ADDRESS_EXACT);
	resolve(&fixture);
	symbolizer_free(fixture.symbolizer);
	images_free(fixture.images);
	fixture.symbolizer = NULL;
	fixture.images = NULL;
	assert_string_equal(frame_of(&fixture, leaf)->name, "local_function");
	assert_string_equal(frame_of(&fixture, leaf)->module, "test_symbolizer");
	end(&fixture);
}

static void names_its_own_functions(void **state)
{
	struct fixture fixture;
	const struct names_frame *frame;
	const struct names_object *object;
	uint32_t leaf, again, library;
	char self[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(n > 0);
	self[n] = '\0';
	start(&fixture, getpid(), NULL);
	leaf = add(&fixture, fixture.image, (uintptr_t)local_function + 1, TALLY_ADDRESS_EXACT);
	again = add(&fixture, fixture.image, (uintptr_t)local_function + 1, 0);
	library = add(&fixture, fixture.image, (uintptr_t)strtod + 2, 0);
	resolve(&fixture);
	frame = frame_of(&fixture, leaf);
	assert_string_equal(frame->name, "local_function");
	assert_null(frame->linkage_name);
	assert_string_equal(frame->module, "test_symbolizer");
	assert_int_equal(frame->offset, 1);
	assert_int_equal(frame->flags, 0);
	object = &names_objects(fixture.names)[frame->object];
	assert_string_equal(object->path, self);
	assert_true(object->build_id_size > 0 && object->inode > 0);
	assert_in_range((uintptr_t)local_function, object->start, object->end);
	assert_string_equal(frame_of(&fixture, again)->name, "local_function");
	assert_int_equal(frame_of(&fixture, again)->offset, 1);
	frame = frame_of(&fixture, library);
	assert_non_null(frame->name);
	assert_non_null(frame->module);
	end(&fixture);
}

static void return_addresses_belong_to_the_call(void **state)
{
	struct fixture fixture;
	uint32_t exact, returned;

	(void)state;
	start(&fixture, getpid(), NULL);
	exact = add(&fixture, fixture.image, (uintptr_t)comes_after, TALLY_ADDRESS_EXACT);
	returned = add(&fixture, fixture.image, (uintptr_t)comes_after, 0);
	resolve(&fixture);
	assert_string_equal(frame_of(&fixture, exact)->name, "comes_after");
	assert_int_equal(frame_of(&fixture, exact)->offset, 0);
	assert_string_equal(frame_of(&fixture, returned)->name, "ends_with_a_call");
	assert_int_equal(frame_of(&fixture, returned)->offset, 4);
	end(&fixture);
}

static void names_the_kernel(void **state)
{
	struct fixture fixture;
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long address = 0;
	char type, name[512];
	uint32_t id, nothing;

	(void)state;
	assert_non_null(file);
	while (fscanf(file, "%lx %c %511s%*[^\n]", &address, &type, name) == 3) {
		if (strcmp(name, "schedule") == 0)
			break;
	}
	fclose(file);
	start(&fixture, getpid(), NULL);
	symbolizer_prepare(fixture.symbolizer);
	assert_null(symbolizer_kernel_advice(fixture.symbolizer));
	id = add(&fixture, TALLY_IMAGE_KERNEL, address ? address + 4 : UINT64_MAX / 2 + 1, 0);
	/* The kernel shares its image id with unknown processes, which have no such addresses. */
	nothing = add(&fixture, IMAGE_NONE, 0x401000, 0);
	resolve(&fixture);
	assert_int_equal(frame_of(&fixture, id)->flags, NAMES_FRAME_KERNEL);
	if (address) {
		assert_string_equal(frame_of(&fixture, id)->name, "schedule");
		assert_string_equal(frame_of(&fixture, id)->module, "[kernel]");
		assert_int_equal(frame_of(&fixture, id)->offset, 4);
		assert_null(symbolizer_kernel_advice(fixture.symbolizer));
	} else {
		assert_null(frame_of(&fixture, id)->name);
		assert_non_null(symbolizer_kernel_advice(fixture.symbolizer));
	}
	assert_string_equal(names_objects(fixture.names)[frame_of(&fixture, id)->object].path,
			    "[kernel.kallsyms]");
	assert_null(frame_of(&fixture, nothing)->name);
	assert_null(frame_of(&fixture, nothing)->module);
	assert_int_equal(frame_of(&fixture, nothing)->object, NAMES_NONE);
	assert_int_equal(frame_of(&fixture, nothing)->flags, 0);
	end(&fixture);
}

static void names_generated_code(void **state)
{
	struct fixture fixture;
	uint8_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64], module[64];
	uint32_t known, unknown, file;
	FILE *map;

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(module, sizeof(module), "[perf-%d.map]", (int)getpid());
	unlink(path);
	map = fopen(path, "wxe");
	assert_non_null(map);
	fprintf(map, "%lx 100 stale\n%lx 100 void Jit::run(int)\n", (unsigned long)code,
		(unsigned long)code);
	fclose(map);
	start(&fixture, getpid(), NULL);
	known = add(&fixture, fixture.image, (uintptr_t)code + 0x20, TALLY_ADDRESS_EXACT);
	unknown = add(&fixture, fixture.image, (uintptr_t)code + 0x200, TALLY_ADDRESS_EXACT);
	file = add(&fixture, fixture.image, (uintptr_t)local_function, TALLY_ADDRESS_EXACT);
	resolve(&fixture);
	unlink(path);
	assert_string_equal(frame_of(&fixture, known)->name, "void Jit::run(int)");
	assert_string_equal(frame_of(&fixture, known)->module, module);
	assert_int_equal(frame_of(&fixture, known)->offset, 0x20);
	assert_int_equal(frame_of(&fixture, known)->flags, NAMES_FRAME_JIT);
	assert_string_equal(frame_of(&fixture, unknown)->name, "[jit]");
	assert_int_equal(frame_of(&fixture, unknown)->offset, 0);
	assert_int_equal(frame_of(&fixture, unknown)->flags, NAMES_FRAME_JIT);
	assert_string_equal(frame_of(&fixture, file)->name, "local_function");
	munmap(code, 8192);
	end(&fixture);
}

/* Then the first file that is opened has the descriptor 0. */
static void names_generated_code_without_standard_input(void **state)
{
	int input = fcntl(0, F_DUPFD_CLOEXEC, 3);

	close(0);
	names_generated_code(state);
	if (input >= 0) {
		assert_int_equal(dup2(input, 0), 0);
		close(input);
	}
}

static void names_the_vdso(void **state)
{
	struct fixture fixture;
	uintptr_t image = getauxval(AT_SYSINFO_EHDR);
	uint32_t first, found = 0;

	(void)state;
	if (!image)
		skip();
	start(&fixture, getpid(), NULL);
	first = add(&fixture, fixture.image, image, TALLY_ADDRESS_EXACT);
	for (uint32_t i = 1; i < 256; i++)
		add(&fixture, fixture.image, image + (uint64_t)i * 16, TALLY_ADDRESS_EXACT);
	resolve(&fixture);
	for (uint32_t i = 0; i < 256; i++) {
		assert_string_equal(frame_of(&fixture, first + i)->module, "[vdso]");
		found += frame_of(&fixture, first + i)->name &&
			 strstr(frame_of(&fixture, first + i)->name, "clock_gettime");
	}
	assert_true(found > 0);
	end(&fixture);
}

static void resolves_only_new_addresses(void **state)
{
	struct fixture fixture;
	uint32_t first, second;
	const char *name;

	(void)state;
	start(&fixture, getpid(), NULL);
	first = add(&fixture, fixture.image, (uintptr_t)local_function, TALLY_ADDRESS_EXACT);
	resolve(&fixture);
	name = frame_of(&fixture, first)->name;
	second = add(&fixture, fixture.image, (uintptr_t)local_function + 1, TALLY_ADDRESS_EXACT);
	resolve(&fixture);
	assert_ptr_equal(frame_of(&fixture, second)->name, name);
	assert_int_equal(names_n_objects(fixture.names), 1);
	/* A new set of names gets its own copies. */
	names_free(fixture.names);
	assert_int_equal(names_new(&fixture.names), 0);
	resolve(&fixture);
	assert_string_equal(frame_of(&fixture, first)->name, "local_function");
	assert_string_equal(frame_of(&fixture, second)->name, "local_function");
	assert_int_equal(names_n_objects(fixture.names), 1);
	end(&fixture);
}

/* Runs a program that prints the address of its function and stops itself. */
static pid_t run_stopped(const char *program, uint64_t *ret_address)
{
	char path[256], text[64] = "";
	int ends[2], status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", built_directory, program);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		execl(path, program, NULL);
		_exit(127);
	}
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	*ret_address = strtoull(text, NULL, 16);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void names_inlined_functions_and_lines(void **state)
{
	const struct symbolizer_options options = { .inlines = true, .lines = true };
	struct names_frame frames[3];
	struct names_address named;
	struct fixture fixture;
	uint64_t address;
	uint32_t id;
	pid_t pid;

	(void)state;
	built_write(
		"inlined.cc",
		"#include <stdio.h>\n#include <signal.h>\n#include <unistd.h>\n"
		"namespace deep {\n"
		"extern \"C\" void *place(void) { return __builtin_return_address(0); }\n"
		"static inline __attribute__((always_inline)) void *inner()\n"
		"{ void *p = place(); __asm__ volatile(\"\"); return p; } // 7\n"
		"static inline __attribute__((always_inline)) void *middle()\n"
		"{ void *p = inner(); return p; } // 9\n"
		"__attribute__((noinline)) void *run(int)\n"
		"{ void *p = middle(); __asm__ volatile(\"\"); return p; } // 11\n"
		"}\n"
		"int main() { printf(\"%lx\\n\", (unsigned long)deep::run(1)); fflush(stdout);\n"
		"raise(SIGSTOP); return 0; }\n");
	assert_true(built_run("g++ -O1 -g -fno-ipa-sra -fno-inline-functions-called-once "
			      "-fno-inline-small-functions -fno-optimize-sibling-calls "
			      "inlined.cc -o inlined"));
	pid = run_stopped("inlined", &address);
	start(&fixture, pid, &options);
	id = add(&fixture, fixture.image, address, 0);
	resolve(&fixture);
	named = names_address(fixture.names, id);
	assert_int_equal(named.n, 3);
	for (uint32_t i = 0; i < 3; i++)
		frames[i] = names_frame(fixture.names, named.first + i);
	assert_string_equal(frames[0].name, "inner");
	assert_int_equal(frames[0].line, 7);
	assert_int_equal(frames[0].flags, NAMES_FRAME_INLINED);
	assert_string_equal(frames[1].name, "middle");
	assert_int_equal(frames[1].line, 9);
	assert_int_equal(frames[1].flags, NAMES_FRAME_INLINED);
	assert_string_equal(frames[2].name, "deep::run(int)");
	assert_string_equal(frames[2].linkage_name, "_ZN4deep3runEi");
	assert_int_equal(frames[2].line, 11);
	assert_int_equal(frames[2].flags, 0);
	assert_true(frames[2].offset > 0);
	assert_string_equal(frames[0].module, "inlined");
	assert_non_null(strstr(frames[2].file, "inlined.cc"));
	end(&fixture);
	finish(pid);
}

static void names_a_deleted_program_that_is_moved_in_its_file(void **state)
{
	struct fixture fixture;
	uint64_t address;
	uint32_t id;
	pid_t pid;

	/* Several code segments, whose addresses are not their offsets. */
	(void)state;
	built_write("deleted.c",
		    "#include <stdio.h>\n#include <signal.h>\n"
		    "__attribute__((noinline, section(\".far_code\"))) void *place(void)\n"
		    "{ return __builtin_return_address(0); }\n"
		    "__attribute__((noinline, section(\".far_code\"))) void *far_away(void)\n"
		    "{ void *p = place(); __asm__ volatile(\"\"); return p; }\n"
		    "int main(void) { printf(\"%lx\\n\", (unsigned long)far_away());\n"
		    "fflush(stdout); raise(SIGSTOP); return 0; }\n");
	assert_true(built_run("gcc -O1 -no-pie -Wl,--section-start=.far_code=0x10700040 "
			      "deleted.c -o deleted"));
	pid = run_stopped("deleted", &address);
	assert_true(address > 0x10700040 && address < 0x10701000);
	start(&fixture, pid, NULL);
	assert_true(built_run("rm deleted"));
	id = add(&fixture, fixture.image, address, 0);
	resolve(&fixture);
	assert_string_equal(frame_of(&fixture, id)->name, "far_away");
	end(&fixture);
	finish(pid);
}

/* DEBUGINFOD_URLS alone is no permission; with permission, a directory serves as the server. */
static void asks_for_debug_files_only_if_allowed(void **state)
{
	struct symbolizer_options options = { 0 };
	char url[128], cache[128];
	uint64_t address;
	pid_t pid;

	(void)state;
	if (!built_run("command -v debuginfod-find"))
		skip();
	built_write("hidden.c", "#include <signal.h>\n#include <stdio.h>\n"
				"__attribute__((noinline)) static int hidden(void)\n"
				"{ printf(\"%p\\n\", (void *)hidden); fflush(stdout); "
				"return raise(SIGSTOP); }\n"
				"int main(void) { return hidden(); }\n");
	assert_true(
		built_run("gcc -O1 -Wl,--build-id hidden.c -o whole && strip whole -o hidden && "
			  "id=$(readelf -n whole | awk '/Build ID/ { print $3 }') && "
			  "mkdir -p www/buildid/$id && "
			  "objcopy --only-keep-debug whole www/buildid/$id/debuginfo"));
	snprintf(url, sizeof(url), "file://%s/www", built_directory);
	snprintf(cache, sizeof(cache), "%s/cache", built_directory);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	setenv("DEBUGINFOD_URLS", url, 1);
	pid = run_stopped("hidden", &address);
	for (int wanted = 0; wanted < 2; wanted++) {
		struct fixture fixture;
		uint32_t id;

		options.debuginfod = wanted;
		start(&fixture, pid, &options);
		id = add(&fixture, fixture.image, address + 1, TALLY_ADDRESS_EXACT);
		resolve(&fixture);
		if (wanted)
			assert_string_equal(frame_of(&fixture, id)->name, "hidden");
		else
			assert_true(frame_of(&fixture, id)->flags & NAMES_FRAME_IDENTITY);
		end(&fixture);
	}
	finish(pid);
	unsetenv("DEBUGINFOD_URLS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_its_progress),
		cmocka_unit_test(each_file_is_read_once),
		cmocka_unit_test(names_outlive_the_symbolizer),
		cmocka_unit_test(names_its_own_functions),
		cmocka_unit_test(return_addresses_belong_to_the_call),
		cmocka_unit_test(names_the_kernel),
		cmocka_unit_test(names_generated_code),
		cmocka_unit_test(names_generated_code_without_standard_input),
		cmocka_unit_test(names_the_vdso),
		cmocka_unit_test(resolves_only_new_addresses),
		cmocka_unit_test(names_inlined_functions_and_lines),
		cmocka_unit_test(names_a_deleted_program_that_is_moved_in_its_file),
		cmocka_unit_test(asks_for_debug_files_only_if_allowed),
	};

	return cmocka_run_group_tests(tests, built_setup, built_teardown);
}
