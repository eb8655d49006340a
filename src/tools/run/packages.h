/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packages of this system: which of them a file belongs to, and which one has its symbols. It
 * asks the package manager that has a database here; nothing goes over a network.
 */
#ifndef STACKTALLY_RUN_PACKAGES_H
#define STACKTALLY_RUN_PACKAGES_H

#include <stdbool.h>
#include <stdio.h>

#define PACKAGE_NAME_SIZE 128

struct package_manager;

struct packages {
	const struct package_manager *manager; /* NULL: none is known */
	char system[100];		       /* "Debian GNU/Linux 12 (bookworm)" */
	char id[32], codename[32];	       /* of os-release(5); may be "" */
};

void packages_open(struct packages *ret_packages);

/* The package that owns the file at an absolute path; "" if none does. */
void packages_owner(const struct packages *packages, const char *path,
		    char ret_name[PACKAGE_NAME_SIZE]);

/* Whether there are packages of symbols; else they come from a server only. */
bool packages_have_symbols(const struct packages *packages);

/* Writes the commands that install the symbols of `n` packages, each line after `indent`. */
void packages_commands(const struct packages *packages, char names[][PACKAGE_NAME_SIZE],
		       unsigned int n, const char *indent, FILE *out);

/* The distribution's server of symbols; NULL: none is known. */
const char *packages_debuginfod(const struct packages *packages);

#endif
