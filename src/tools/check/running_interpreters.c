// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/running_interpreters.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/self_run.h"

#define PROGRAMS_MAX  6
#define PROCESSES_MAX 16

/* An interpreter's file, and some processes that run it. */
struct interpreter {
	char path[256];
	const char *name; /* of its language */
	char pids[PROCESSES_MAX * 12];
	uint32_t n;
};

struct interpreters {
	struct interpreter list[PROGRAMS_MAX];
	uint32_t n;
};

/* By the beginning of the file's name, behind which a version may follow. */
static const char *language_of(const char *path)
{
	static const char *const names[] = { "python", "perl", "php", "ruby", "node", "java" };
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rest = file + strlen(names[i]);

		if (strncmp(file, names[i], strlen(names[i])) == 0 &&
		    (!*rest || isdigit((unsigned char)*rest) || *rest == '-' || *rest == ' '))
			return names[i];
	}
	return NULL;
}

static void add_process(struct interpreters *interpreters, const char *pid, const char *path)
{
	const char *language = language_of(path);
	struct interpreter *is = NULL;

	if (!language)
		return;
	for (uint32_t i = 0; i < interpreters->n && !is; i++)
		if (strcmp(interpreters->list[i].path, path) == 0)
			is = &interpreters->list[i];
	if (!is && interpreters->n == PROGRAMS_MAX)
		return;
	if (!is) {
		is = &interpreters->list[interpreters->n++];
		*is = (struct interpreter){ .name = language };
		snprintf(is->path, sizeof(is->path), "%s", path);
	}
	if (is->n == PROCESSES_MAX)
		return;
	snprintf(is->pids + strlen(is->pids), sizeof(is->pids) - strlen(is->pids), "%s%s",
		 is->n++ ? "," : "", pid);
}

static void find(struct interpreters *interpreters)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		char link[300], path[256];
		ssize_t n;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(link, sizeof(link), "/proc/%s/exe", entry->d_name);
		n = readlink(link, path, sizeof(path) - 1);
		if (n <= 0)
			continue;
		path[n] = '\0';
		add_process(interpreters, entry->d_name, path);
	}
	if (proc)
		closedir(proc);
}

/* ---- the version ---- */

#define VERSION_SIZE 24

/* What stands before the version in paths of an interpreter's files. */
static const struct {
	const char *language, *before;
} version_marks[] = {
	{ "python", "python" }, { "perl", "libperl.so." }, { "perl", "perl/" },
	{ "perl", "perl" },	{ "php", "php" },	   { "ruby", "libruby-" },
	{ "ruby", "ruby" },	{ "node", "node-v" },	   { "node", "node/v" },
	{ "java", "java-" },	{ "java", "jdk-" },
};

/* The last version that the path has, from major and minor number on. */
static bool read_version(const char *path, const char *language, char ret_version[VERSION_SIZE])
{
	bool found = false;

	for (size_t i = 0; i < sizeof(version_marks) / sizeof(version_marks[0]); i++) {
		const char *before = version_marks[i].before, *at = path;

		if (strcmp(version_marks[i].language, language) != 0)
			continue;
		while ((at = strstr(at, before))) {
			int n;

			at += strlen(before);
			n = (int)strspn(at, "0123456789.");
			while (n > 0 && at[n - 1] == '.')
				n--;
			/* A 3 alone stands for many versions; Java's have one number. */
			if (n == 0 ||
			    (!memchr(at, '.', (size_t)n) && strcmp(language, "java") != 0))
				continue;
			snprintf(ret_version, VERSION_SIZE, "%.*s", n, at);
			found = true;
		}
	}
	return found;
}

/* By the name of its file, else by what its first process has mapped; "": neither tells. */
static void find_version(const struct interpreter *is, char ret_version[VERSION_SIZE])
{
	char path[64], line[512];
	FILE *maps;

	*ret_version = '\0';
	if (read_version(is->path, is->name, ret_version))
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", atoi(is->pids));
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		const char *name = strchr(line, '/');

		if (name && read_version(name, is->name, ret_version))
			break;
	}
	if (maps)
		fclose(maps);
}

/* ---- the trial ---- */

/* In our JSON, each frame is on a line; `"[python: no state]"` stands for functions not known. */
static bool has_reason(const char *json, const char *language, char *ret_reason, size_t size)
{
	char begins[32];
	const char *at;

	snprintf(begins, sizeof(begins), "\"name\":\"[%s: ", language);
	at = strstr(json, begins);
	if (!at)
		return false;
	at += strlen("\"name\":\"");
	snprintf(ret_reason, size, "%.*s", (int)strcspn(at, "\""), at);
	return true;
}

static bool has_functions(const char *json)
{
	for (const char *at = strstr(json, "\"program\":true"); at;
	     at = strstr(at + 1, "\"program\":true")) {
		const char *line = at;

		while (line > json && line[-1] != '\n')
			line--;
		if (strncmp(line, "{\"name\":\"[", 10) != 0)
			return true;
	}
	return false;
}

static void try_one(struct findings *findings, const struct interpreter *is)
{
	const char *const arguments[] = { "profile", "-F",     "499", "--format", "json",
					  "-p",	     is->pids, "1",   NULL };
	char reason[100], version[VERSION_SIZE], file[sizeof(is->path) + VERSION_SIZE + 4];
	struct self_run run;
	const char *json;

	find_version(is, version);
	snprintf(file, sizeof(file), "%s%s%s%s", is->path, *version ? " (" : "", version,
		 *version ? ")" : "");
	self_run(arguments, &run);
	json = self_run_out(&run);
	if (run.status != 0)
		findings_add(findings, is->name, FINDING_UNTRIED, "%s: it could not be measured",
			     file);
	else if (has_functions(json))
		findings_add(findings, is->name, FINDING_OK,
			     "%s: functions of its programs are shown", file);
	else if (has_reason(json, is->name, reason, sizeof(reason)))
		snprintf(findings_add(findings, is->name, FINDING_LIMITED, "%s: %s", file, reason)
				 ->remedy,
			 400, "docs/interpreters.md has the versions and what each reason means");
	else
		findings_add(findings, is->name, FINDING_UNTRIED,
			     "%s: its processes (%s) ran no function for 1 s", file, is->pids);
	self_run_clear(&run);
}

void interpreters_try_all(struct findings *findings)
{
	struct interpreters interpreters = { 0 };

	find(&interpreters);
	for (uint32_t i = 0; i < interpreters.n; i++)
		try_one(findings, &interpreters.list[i]);
	if (!interpreters.n)
		findings_add(findings, "interpreters", FINDING_UNTRIED,
			     "none runs now that can be seen");
}
