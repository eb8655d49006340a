// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/packages.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "base/program.h"

#define ASK_NS	    (3 * NS_PER_SECOND)
#define ANSWER_SIZE 4096

struct package_manager {
	const char *database, *tool; /* both are there if the system has this manager */
	const char *program;	     /* that is asked, with these arguments before the path */
	const char *arguments[4];
	/* Cuts its answer down to the name of a package. */
	void (*name_of)(char *answer);
	/* Writes what is to be done before the command `install`; or NULL. */
	void (*prepare)(const struct packages *packages, const char *indent, FILE *out);
	const char *install; /* NULL: packages of symbols are not to be had */
	const char *suffix;  /* of the name of a package of symbols */
};

/* "libc6:amd64: /lib/...", or "a, b: /lib/..." if several packages have it. */
static void name_of_dpkg(char *answer)
{
	answer[strcspn(answer, ":,\n")] = '\0';
}

static void first_line(char *answer)
{
	answer[strcspn(answer, "\n")] = '\0';
}

/* "/lib/x.so is owned by musl-1.2.5-r9": the version and the release follow the name. */
static void name_of_apk(char *answer)
{
	static const char owned[] = " is owned by ";
	const char *name = strstr(answer, owned);

	first_line(answer);
	if (!name) {
		answer[0] = '\0';
		return;
	}
	name += sizeof(owned) - 1;
	memmove(answer, name, strlen(name) + 1);
	for (int i = 0; i < 2; i++) {
		char *dash = strrchr(answer, '-');

		if (dash)
			*dash = '\0';
	}
}

static void prepare_dpkg(const struct packages *packages, const char *indent, FILE *out)
{
	const char *codename = *packages->codename ? packages->codename : "CODENAME";

	if (strcmp(packages->id, "ubuntu") == 0)
		fprintf(out,
			"%sapt install ubuntu-dbgsym-keyring\n"
			"%secho 'deb http://ddebs.ubuntu.com %s main restricted universe "
			"multiverse' >/etc/apt/sources.list.d/ddebs.list\n",
			indent, indent, codename);
	else
		fprintf(out,
			"%secho 'deb http://deb.debian.org/debian-debug %s-debug main' "
			">/etc/apt/sources.list.d/debug.list\n",
			indent, codename);
	fprintf(out, "%sapt update\n", indent);
}

#define RPM "/usr/bin/rpm", { "-q", "--qf", "%{NAME}\\n", "-f" }, first_line, NULL

static const struct package_manager managers[] = {
	{ "/var/lib/dpkg/status",
	  "/usr/bin/dpkg",
	  "/usr/bin/dpkg-query",
	  { "--search" },
	  name_of_dpkg,
	  prepare_dpkg,
	  "apt install",
	  "-dbgsym" },
	{ "/usr/lib/sysimage/rpm", "/usr/bin/zypper", RPM, "zypper install", "-debuginfo" },
	{ "/usr/lib/sysimage/rpm", "/usr/bin/dnf", RPM, "dnf debuginfo-install", "" },
	{ "/var/lib/rpm", "/usr/bin/dnf", RPM, "dnf debuginfo-install", "" },
	{ "/var/lib/rpm", "/usr/bin/yum", RPM, "debuginfo-install", "" },
	{ "/lib/apk/db/installed",
	  "/sbin/apk",
	  "/sbin/apk",
	  { "info", "-W" },
	  name_of_apk,
	  NULL,
	  "apk add",
	  "-dbg" },
	{ "/var/lib/pacman/local",
	  "/usr/bin/pacman",
	  "/usr/bin/pacman",
	  { "-Q", "-q", "-o" },
	  first_line,
	  NULL,
	  NULL,
	  NULL },
};

/* Servers that distributions name in their documents, by the id of os-release(5). */
static const struct {
	const char *id, *url;
} servers[] = {
	{ "debian", "https://debuginfod.debian.net" },
	{ "ubuntu", "https://debuginfod.ubuntu.com" },
	{ "fedora", "https://debuginfod.fedoraproject.org" },
	{ "arch", "https://debuginfod.archlinux.org" },
	{ "opensuse-tumbleweed", "https://debuginfod.opensuse.org" },
	{ "centos", "https://debuginfod.centos.org" },
};

/* The value of NAME="VALUE" or NAME=VALUE, printable, if the line is one. */
static void read_field(const char *line, const char *name, char *to, size_t size)
{
	size_t length = strlen(name), n;

	if (strncmp(line, name, length) != 0 || line[length] != '=')
		return;
	line += length + 1;
	line += *line == '"';
	n = strcspn(line, "\"\n");
	snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), line);
}

void packages_open(struct packages *ret_packages)
{
	own(own_file) FILE *release = fopen("/etc/os-release", "re");
	char line[512];

	*ret_packages = (struct packages){ .system = "this system" };
	while (release && fgets(line, sizeof(line), release)) {
		read_field(line, "PRETTY_NAME", ret_packages->system, sizeof(ret_packages->system));
		read_field(line, "ID", ret_packages->id, sizeof(ret_packages->id));
		read_field(line, "VERSION_CODENAME", ret_packages->codename,
			   sizeof(ret_packages->codename));
	}
	for (size_t i = 0; i < sizeof(managers) / sizeof(managers[0]); i++) {
		if (access(managers[i].database, F_OK) == 0 &&
		    access(managers[i].tool, X_OK) == 0) {
			ret_packages->manager = &managers[i];
			return;
		}
	}
}

static bool ask(const struct package_manager *manager, const char *path, char *answer)
{
	const char *argv[8] = { manager->program };
	const struct program program = { .argv = argv, .limit_ns = ASK_NS };
	size_t n = 1;

	for (size_t i = 0; i < 4 && manager->arguments[i]; i++)
		argv[n++] = manager->arguments[i];
	argv[n] = path;
	if (program_output(&program, answer, ANSWER_SIZE) < 0)
		return false;
	manager->name_of(answer);
	return answer[0] && strlen(answer) < PACKAGE_NAME_SIZE;
}

void packages_owner(const struct packages *packages, const char *path,
		    char ret_name[PACKAGE_NAME_SIZE])
{
	const char *merged = "/usr";
	char answer[ANSWER_SIZE];
	bool found;

	ret_name[0] = '\0';
	/* dpkg takes patterns, and an argument must not pass for an option. */
	if (!packages->manager || path[0] != '/' || strpbrk(path, "*?[\\"))
		return;
	found = ask(packages->manager, path, answer);
	/* Packages from before /usr was merged have their files in /lib and /bin. */
	if (!found && strncmp(path, merged, strlen(merged)) == 0)
		found = ask(packages->manager, path + strlen(merged), answer);
	if (found)
		memcpy(ret_name, answer, strlen(answer) + 1);
}

bool packages_have_symbols(const struct packages *packages)
{
	return packages->manager && packages->manager->install;
}

void packages_commands(const struct packages *packages, char names[][PACKAGE_NAME_SIZE],
		       unsigned int n, const char *indent, FILE *out)
{
	const struct package_manager *manager = packages->manager;

	if (!packages_have_symbols(packages) || !n)
		return;
	if (manager->prepare)
		manager->prepare(packages, indent, out);
	fprintf(out, "%s%s", indent, manager->install);
	for (unsigned int i = 0; i < n; i++) {
		/* The symbols of Debian's glibc are in a package of the older kind. */
		bool older = manager->prepare && strcmp(names[i], "libc6") == 0;

		fprintf(out, " %s%s", names[i], older ? "-dbg" : manager->suffix);
	}
	fputc('\n', out);
}

const char *packages_debuginfod(const struct packages *packages)
{
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (strcmp(servers[i].id, packages->id) == 0)
			return servers[i].url;
	return NULL;
}
