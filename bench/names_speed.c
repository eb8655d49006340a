// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names_speed ADDRESSES PERF_DATA [inlines] < LIST_OF_FILES: maps the code of every file of the
 * list, spreads ADDRESSES over it, in groups of four in 64 bytes as the places of one function that
 * samples hit often lie together, names them all, and says what that took. Writes the same
 * addresses as samples to PERF_DATA (- for none), so that `perf script` can name them.
 *
 * Built by hand, with the objects of the commands: see names_speed.py.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "symbolize/symbolizer.h"

#define MAX_FILES 4096
#define GROUP	  4

/* The executable segment of one file, mapped. */
struct script {
	char path[512];
	uint64_t start, size, offset;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The peak of this program alone: ru_maxrss includes the program that started it. */
static long peak_kb(void)
{
	own(own_file) FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kb = -1;

	while (file && fgets(line, sizeof(line), file) && sscanf(line, "VmHWM: %ld", &kb) != 1)
		;
	return kb;
}

static bool map_code(const char *path, struct script *code)
{
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr segments[32];
	Elf64_Ehdr head;
	size_t n;

	if (fd < 0 || read(fd, &head, sizeof(head)) != sizeof(head) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(*segments))
		return false;
	n = head.e_phnum < 32 ? head.e_phnum : 32;
	if (pread(fd, segments, n * sizeof(*segments), (off_t)head.e_phoff) !=
	    (ssize_t)(n * sizeof(*segments)))
		return false;
	for (size_t i = 0; i < n; i++) {
		void *mapped;

		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X))
			continue;
		code->offset = segments[i].p_offset & ~4095ull;
		code->size = segments[i].p_filesz + (segments[i].p_offset & 4095);
		mapped = mmap(NULL, code->size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			      (off_t)code->offset);
		if (mapped == MAP_FAILED)
			return false;
		code->start = (uint64_t)(uintptr_t)mapped;
		snprintf(code->path, sizeof(code->path), "%s", path);
		return true;
	}
	return false;
}

/* ---- the same for perf: a file as `perf record` writes it */

static void write_record(FILE *file, uint32_t type, uint16_t misc, const void *body, size_t size)
{
	struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(header) + size),
	};

	fwrite(&header, sizeof(header), 1, file);
	fwrite(body, size, 1, file);
}

static void write_mapping(FILE *file, const struct script *code)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, size, offset;
		char path[512];
	} body = { 1, 1, code->start, (code->size + 4095) & ~4095ull, code->offset, "" };

	memcpy(body.path, code->path, sizeof(body.path));
	write_record(file, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, &body,
		     offsetof(__typeof__(body), path) + ((strlen(code->path) + 8) & ~7ul));
}

static void write_perf_data(const char *path, const struct script *codes, uint32_t n_codes,
			    const struct tally *tally)
{
	const struct {
		uint32_t pid, tid;
		char comm[8];
	} comm = { 1, 1, "names" };
	const struct tally_address *addresses = tally_addresses(tally);
	struct {
		struct perf_event_attr attr;
		uint64_t ids_at, ids_size;
	} attribute = { .attr = {
				.type = PERF_TYPE_SOFTWARE,
				.size = sizeof(struct perf_event_attr),
				.config = PERF_COUNT_SW_CPU_CLOCK,
				.sample_period = 1,
				.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				.mmap = 1,
				.comm = 1,
			} };
	uint64_t head[13] = { 0 };
	FILE *file = fopen(path, "we");

	if (!file)
		return;
	memcpy(head, "PERFILE2", 8);
	head[1] = sizeof(head);
	head[2] = sizeof(attribute);
	head[3] = sizeof(head); /* attributes: where, how much */
	head[4] = sizeof(attribute);
	head[5] = sizeof(head) + sizeof(attribute); /* data */
	fwrite(head, sizeof(head), 1, file);
	fwrite(&attribute, sizeof(attribute), 1, file);
	write_record(file, PERF_RECORD_COMM, 0, &comm, sizeof(comm));
	for (uint32_t i = 0; i < n_codes; i++)
		write_mapping(file, &codes[i]);
	for (uint32_t i = 0; i < tally_n_addresses(tally); i++) {
		const struct {
			uint64_t address;
			uint32_t pid, tid;
			uint64_t time;
		} sample = { addresses[i].address, 1, 1, 1000000 + i };

		write_record(file, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &sample,
			     sizeof(sample));
	}
	head[6] = (uint64_t)ftell(file) - head[5];
	rewind(file);
	fwrite(head, sizeof(head), 1, file);
	fclose(file);
}

/* The j-th of `share` addresses: groups of GROUP in 64 bytes, the groups evenly. */
static uint64_t place(const struct script *code, uint64_t j, uint64_t share)
{
	uint64_t groups = (share + GROUP - 1) / GROUP;
	uint64_t group = j / GROUP * (code->size / 64) / groups;

	return code->start + group * 64 + j % GROUP * (64 / GROUP);
}

static bool is_named(struct names_frame frame)
{
	return frame.name && !(frame.flags & NAMES_FRAME_IDENTITY);
}

int main(int argc, char **argv)
{
	const struct symbolizer_options options = { .inlines = argc > 3, .lines = argc > 3 };
	uint64_t wanted = argc > 2 ? strtoull(argv[1], NULL, 10) : 0, all = 0, at = 0;
	static struct script codes[MAX_FILES];
	struct symbolizer *symbolizer = NULL;
	struct images *images = NULL;
	struct tally *tally = NULL;
	struct names *names = NULL;
	uint32_t n = 0, image = 0, named = 0;
	struct error err = { 0 };
	double began, began_cpu;
	char line[512];
	long before;

	while (n < MAX_FILES && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		n += map_code(line, &codes[n]);
	}
	for (uint32_t i = 0; i < n; i++)
		all += codes[i].size;
	if (!wanted || !n || all < wanted * 16 || tally_new(0, 0, &tally) || names_new(&names) ||
	    images_new(NULL, &images) || symbolizer_new(images, &options, &symbolizer) ||
	    images_at(images, getpid(), 0, 1, &image))
		return 1;
	/* Every file gets its share, and a file that is too small as many as it has room for. */
	for (uint32_t i = 0; i < n; i++) {
		uint64_t share = (wanted - at) / (n - i);

		share = share < codes[i].size / 16 ? share : codes[i].size / 16;
		for (uint64_t j = 0; j < share; j++, at++) {
			const struct tally_address address = {
				.address = place(&codes[i], j, share),
				.image = image,
				.flags = TALLY_ADDRESS_EXACT,
			};
			uint32_t id;

			if (tally_address(tally, &address, &id))
				return 1;
		}
	}
	if (strcmp(argv[2], "-") != 0)
		write_perf_data(argv[2], codes, n, tally);
	before = peak_kb();
	began = now();
	began_cpu = cpu();
	if (symbolizer_resolve(symbolizer, tally, names, &err))
		return 1;
	began = now() - began;
	began_cpu = cpu() - began_cpu;
	for (uint32_t i = 0; i < names_n_frames(names); i++)
		named += is_named(names_frame(names, i));
	printf("%u addresses in %u files: %u frames named in %.3f s (%.3f s of CPU), "
	       "RSS %.1f MB (%.1f MB before)\n",
	       tally_n_addresses(tally), n, named, began, began_cpu, (double)peak_kb() / 1024,
	       (double)before / 1024);
	symbolizer_free(symbolizer);
	names_free(names);
	images_free(images);
	tally_free(tally);
	return 0;
}
