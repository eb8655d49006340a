// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/interpreters.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/grow.h"
#include "confined/confined.h"
#include "elf/export_lookup.h"
#include "elf/load_segments.h"
#include "interpreters/idle.h"
#include "interpreters/java_machines.h"
#include "interpreters/languages.h"

#define LANGUAGE_ADDRESS(ID, id, ...) [LANGUAGE_##ID] = &language_##id,

static const struct language_reader *const readers[N_LANGUAGES] = {
	LANGUAGES(LANGUAGE_ADDRESS, LANGUAGES_NOTHING, LANGUAGES_NOTHING)
};

#define NOT_READ     UINT32_MAX
#define MAX_OF_USERS (WIRE_MAX_INTERPRETERS / 2) /* so that root's files have room */
#define RUNNING_NS   (3 * NS_PER_MS)

struct interpreters {
	const struct images *images;
	struct confined *readers;
	int map;
	uint32_t *of_file; /* by file id: a number, 0, or NOT_READ */
	uint32_t n_files, capacity;
	struct wire_interpreter list[WIRE_MAX_INTERPRETERS]; /* by number */
	uint32_t n, n_of_users;				     /* those of files not of root */
	uint32_t languages;
	bool spares_idle, begins; /* see interpreters_spare_idle() */
	struct idle_set idle;	  /* processes that were not met yet */
	struct java_machines java;
};

int interpreters_new(const struct images *images, int map, struct interpreters **ret_interpreters)
{
	own(own_interpreters_free) struct interpreters *interpreters =
		calloc(1, sizeof(*interpreters));
	int r;

	if (!interpreters)
		return -ENOMEM;
	interpreters->images = images;
	interpreters->map = map;
	interpreters->n = 1;
	interpreters->java = JAVA_MACHINES_NONE;
	r = confined_new(&confined_limits_default, &interpreters->readers);
	if (r < 0)
		return r;
	*ret_interpreters = take_ptr(interpreters);
	return 0;
}

void interpreters_free(struct interpreters *interpreters)
{
	if (!interpreters)
		return;
	confined_free(interpreters->readers);
	java_machines_clear(&interpreters->java);
	idle_clear(&interpreters->idle);
	free(interpreters->of_file);
	free(interpreters);
}

/* ---- reading a file ---- */

/* Runs in the child; the request is the number of a language. */
static int read_in_child(const struct confined_job *job)
{
	struct wire_interpreter interpreter = { 0 };
	own(own_elf_file_close) struct elf_file *elf = NULL;
	uint32_t language;
	int r;

	if (job->size != sizeof(language))
		return -EPROTO;
	memcpy(&language, job->request, sizeof(language));
	r = elf_file_open(job->fds[0], &elf);
	if (r == 0)
		r = readers[language]->read(elf, &interpreter);
	if (r < 0)
		return r;
	if (elf->machine != EM_X86_64)
		interpreter.refused = WIRE_SCRIPT_ARCHITECTURE;
	confined_send(job, &interpreter, sizeof(interpreter));
	return 0;
}

/* Whether what a child says is possible; addresses and offsets may be any, as all reads may fail.
 */
static bool is_possible(const struct wire_interpreter *is)
{
	return is->language < N_LANGUAGES && is->refused < WIRE_N_SCRIPT_REASONS &&
	       is->evaluator <= is->evaluator_end;
}

static int ask(struct interpreters *interpreters, int fd, uint32_t language,
	       struct wire_interpreter *ret_interpreter)
{
	const struct iovec request = { &language, sizeof(language) };
	int r = confined_ask(interpreters->readers, read_in_child, fd, &request, ret_interpreter,
			     sizeof(*ret_interpreter));

	confined_retire(interpreters->readers);
	if (r < 0)
		return r;
	return is_possible(ret_interpreter) ? 0 : -EPROTO;
}

/* ---- files that may contain one ---- */

uint32_t interpreters_mark(const struct elf_file *elf)
{
	struct export_lookup lookup;
	uint32_t marks = 0;

	export_lookup_open(&lookup, elf);
	for (uint32_t language = LANGUAGE_NONE + 1; language < N_LANGUAGES; language++) {
		const char *const *name = readers[language]->exports;

		while (*name && !export_lookup_has(&lookup, *name))
			name++;
		if (*name)
			marks |= 1u << language;
	}
	return marks;
}

/* The languages that a file's name speaks of, as a mark. */
static uint32_t mark_of_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	uint32_t marks = 0;

	for (uint32_t language = LANGUAGE_NONE + 1; language < N_LANGUAGES; language++)
		if (strstr(name, readers[language]->file_name))
			marks |= 1u << language;
	return marks;
}

/* Reads the interpreter of the first of some languages that the file contains one of. */
static bool find_in_file(struct interpreters *interpreters, int fd, uint32_t marks,
			 struct wire_interpreter *ret_interpreter)
{
	for (uint32_t language = LANGUAGE_NONE + 1; language < N_LANGUAGES; language++)
		if (marks >> language & 1 &&
		    ask(interpreters, fd, language, ret_interpreter) == 0 &&
		    ret_interpreter->language)
			return true;
	return false;
}

static uint32_t read_file(struct interpreters *interpreters, uint32_t file)
{
	const struct mapped_file *is = images_file(interpreters->images, file);
	uint32_t marks = is->marks | mark_of_path(is->path ? is->path : "");
	uint32_t number = interpreters->n;
	struct wire_interpreter found = { 0 };
	own(own_fd) int fd = -1;
	bool of_user;

	if (!images_file_is_readable(interpreters->images, file))
		return NOT_READ; /* another process may lead to it later */
	if (!marks || number == WIRE_MAX_INTERPRETERS)
		return 0;
	fd = images_open_file(interpreters->images, file);
	if (fd < 0)
		return NOT_READ;
	of_user = confined_owner(fd) != 0;
	if ((of_user && interpreters->n_of_users == MAX_OF_USERS) ||
	    !find_in_file(interpreters, fd, marks, &found))
		return 0;
	if (bpf_map_update_elem(interpreters->map, &number, &found, BPF_ANY) < 0)
		return 0;
	interpreters->list[number] = found;
	interpreters->n_of_users += of_user;
	if (!interpreters->spares_idle)
		interpreters->languages |= 1u << found.language;
	return interpreters->n++;
}

uint32_t interpreters_of_file(struct interpreters *interpreters, uint32_t file)
{
	file = images_file_resolved(interpreters->images, file);
	if (grow(&interpreters->of_file, &interpreters->capacity, (size_t)file + 1) < 0)
		return 0;
	while (interpreters->n_files <= file)
		interpreters->of_file[interpreters->n_files++] = NOT_READ;
	if (interpreters->of_file[file] == NOT_READ)
		interpreters->of_file[file] = read_file(interpreters, file);
	return interpreters->of_file[file] == NOT_READ ? 0 : interpreters->of_file[file];
}

bool interpreters_expect(struct interpreters *interpreters, uint32_t file)
{
	uint32_t number = interpreters_of_file(interpreters, file);

	if (number)
		interpreters->languages |= 1u << interpreters->list[number].language;
	return number != 0;
}

void interpreters_spare_idle(struct interpreters *interpreters, bool begins)
{
	interpreters->spares_idle = true;
	interpreters->begins = begins;
}

void interpreters_saw(struct interpreters *interpreters, pid_t tgid)
{
	interpreters->languages |= idle_take(&interpreters->idle, tgid);
}

/* A process has interpreters of these languages, or none any more. */
static int meet(struct interpreters *interpreters, pid_t tgid, uint32_t languages)
{
	uint32_t before = idle_languages(&interpreters->idle, tgid);

	if (before && before == languages)
		return 0;
	/* It executes something else, or has mapped another one. */
	idle_take(&interpreters->idle, tgid);
	if (!(languages & ~interpreters->languages))
		return 0;
	if (interpreters->begins && idle_process(tgid))
		return idle_add(&interpreters->idle, tgid, languages);
	interpreters->languages |= languages;
	return 0;
}

int interpreters_process(struct interpreters *interpreters, pid_t tgid,
			 const struct wire_mapped_interpreter *list, uint32_t n)
{
	const struct wire_mapped_interpreter *machine = NULL;
	uint32_t languages = 0;
	int r;

	for (uint32_t i = 0; i < n; i++) {
		const struct wire_interpreter *is = interpreters_at(interpreters, list[i].number);

		if (!is)
			continue;
		languages |= 1u << is->language;
		if (is->language == LANGUAGE_JAVA && !is->refused && !machine)
			machine = &list[i];
	}
	r = meet(interpreters, tgid, languages);
	if (r < 0)
		return r;
	if (!machine) {
		java_machines_forget(&interpreters->java, tgid);
		return 0;
	}
	return java_machines_saw(&interpreters->java, tgid, machine->number,
				 &interpreters->list[machine->number].java, machine->bias);
}

void interpreters_try(struct interpreters *interpreters, int map, uint64_t now)
{
	interpreters->java.map = map;
	java_machines_try(&interpreters->java, now);
}

const struct wire_interpreter *interpreters_at(const struct interpreters *interpreters,
					       uint32_t number)
{
	return number && number < interpreters->n ? &interpreters->list[number] : NULL;
}

bool interpreters_java(const struct interpreters *interpreters, pid_t tgid,
		       struct wire_java_process *ret_process)
{
	uint32_t key = (uint32_t)tgid;

	return interpreters->java.map >= 0 &&
	       bpf_map_lookup_elem(interpreters->java.map, &key, ret_process) == 0;
}

const char *interpreters_refused(const struct interpreters *interpreters, pid_t *ret_tgid)
{
	return java_machines_refused(&interpreters->java, ret_tgid);
}

uint32_t interpreters_languages(const struct interpreters *interpreters)
{
	return interpreters->languages;
}

/* The languages of an executed file. */
static uint32_t languages_of_program(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	uint32_t languages = 0;

	for (uint32_t language = LANGUAGE_NONE + 1; language < N_LANGUAGES; language++)
		if (strncmp(name, readers[language]->program, strlen(readers[language]->program)) ==
		    0)
			languages |= 1u << language;
	return languages;
}

uint32_t interpreters_running(void)
{
	DIR *proc = opendir("/proc");
	uint64_t end = monotonic_ns() + RUNNING_NS;
	const struct dirent *entry;
	uint32_t languages = 0, found;

	while (proc && monotonic_ns() < end && (entry = readdir(proc))) {
		char link[sizeof(entry->d_name) + 4], path[PATH_MAX];
		ssize_t n;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(link, sizeof(link), "%s/exe", entry->d_name);
		n = readlinkat(dirfd(proc), link, path, sizeof(path) - 1);
		if (n <= 0)
			continue;
		path[n] = '\0';
		found = languages_of_program(path) & ~languages;
		if (found && !idle_process((pid_t)strtol(entry->d_name, NULL, 10)))
			languages |= found;
	}
	if (proc)
		closedir(proc);
	return languages;
}

enum language interpreters_evaluator(const struct interpreters *interpreters, uint32_t image,
				     uint64_t address)
{
	const struct mapping *mapping = images_find(interpreters->images, image, address);
	struct load_segments segments;
	const struct wire_interpreter *is;
	uint32_t number, file;
	uint64_t bias;

	if (!mapping || mapping->kind != MAPPING_FILE)
		return LANGUAGE_NONE;
	file = images_file_resolved(interpreters->images, mapping->file);
	if (file >= interpreters->n_files)
		return LANGUAGE_NONE;
	number = interpreters->of_file[file];
	if (number == NOT_READ || number == 0)
		return LANGUAGE_NONE;
	if (images_file_segments(interpreters->images, mapping->file, &segments) < 0 ||
	    !load_segments_bias(&segments, mapping->start, mapping->offset, &bias))
		return LANGUAGE_NONE;
	is = &interpreters->list[number];
	return address - bias - is->evaluator < is->evaluator_end - is->evaluator
		       ? (enum language)is->language
		       : LANGUAGE_NONE;
}
