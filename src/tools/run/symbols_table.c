// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/symbols_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "files/file_outline.h"
#include "process/images.h"
#include "run/packages.h"
#include "view/unnamed.h"

/* Files that are listed. Asking the package manager takes some 50 ms a file. */
#define MAX_FILES 20

#define INDENT "    "

DEFINE_OWN(struct images, images_free)

struct table {
	const struct names *names;
	struct unnamed unnamed;
	struct packages packages;
	struct images *images; /* opens files, also where a mount does not respond */
	struct confined *readers;
	char owners[MAX_FILES][PACKAGE_NAME_SIZE]; /* of the listed files; "" none */
	uint32_t n;				   /* listed files */
};

static const struct names_object *object_of(const struct table *table, uint32_t i)
{
	return &names_objects(table->names)[table->unnamed.files[i].object];
}

/* Whether the very file is at its path here: it may be of a container, or of another host. */
static bool is_here(struct table *table, const struct names_object *object)
{
	struct file_outline outline = { 0 };
	own(own_fd) int fd = -1;
	struct stat status;

	if (object->path[0] != '/')
		return false;
	fd = images_open_path(table->images, object->path, &status);
	if (fd < 0)
		return false;
	if (!object->build_id_size)
		return object->inode && status.st_ino == object->inode;
	file_outline_read(table->readers, fd, NULL, &outline);
	return outline.build_id_size >= object->build_id_size &&
	       memcmp(outline.build_id, object->build_id, object->build_id_size) == 0;
}

static void find_owners(struct table *table)
{
	for (uint32_t i = 0; i < table->n; i++)
		if (is_here(table, object_of(table, i)))
			packages_owner(&table->packages, object_of(table, i)->path,
				       table->owners[i]);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_build_id(const struct names_object *object, FILE *out)
{
	if (!object->build_id_size)
		fprintf(out, "%-40s", "-");
	for (uint32_t i = 0; i < object->build_id_size; i++)
		fprintf(out, "%02x", object->build_id[i]);
	if (object->build_id_size)
		fprintf(out, "%*s", 40 - 2 * (int)object->build_id_size, "");
}

/* A path may have any bytes: it is cleaned as names are. */
static void put_path(const char *path, FILE *out)
{
	struct bytes bytes;

	bytes_start(&bytes, out);
	bytes_name(&bytes, path, strlen(path));
	bytes_finish(&bytes);
	bytes_clear(&bytes);
}

static void put_rows(const struct table *table, FILE *out)
{
	const struct unnamed *all = &table->unnamed;

	fprintf(out, "%s  %s  %-40s  %-20s  %s\n", "frames", "no symbol", "build-id", "package",
		"file");
	for (uint32_t i = 0; i < table->n; i++) {
		const struct unnamed_file *file = &all->files[i];

		fprintf(out, "%5.1f%%  %8.1f%%  ", percent(file->frames, all->frames),
			percent(file->unnamed, all->frames));
		put_build_id(object_of(table, i), out);
		fprintf(out, "  %-20s  ", table->owners[i][0] ? table->owners[i] : "-");
		put_path(object_of(table, i)->path, out);
		fputc('\n', out);
	}
}

/* The packages of files that lack symbols, each once. Returns their number. */
static unsigned int choose_packages(const struct table *table,
				    char chosen[MAX_FILES][PACKAGE_NAME_SIZE],
				    uint32_t *ret_ownerless)
{
	unsigned int n = 0;

	*ret_ownerless = 0;
	for (uint32_t i = 0; i < table->n; i++) {
		unsigned int k = 0;

		*ret_ownerless += !table->owners[i][0];
		while (k < n && strcmp(chosen[k], table->owners[i]) != 0)
			k++;
		if (table->owners[i][0] && k == n)
			memcpy(chosen[n++], table->owners[i], PACKAGE_NAME_SIZE);
	}
	return n;
}

static void put_debuginfod(const struct table *table, FILE *out)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	const char *url = packages_debuginfod(&table->packages);

	if (urls && *urls) {
		fprintf(out, "\nDEBUGINFOD_URLS is set: %s\n", urls);
		return;
	}
	fprintf(out,
		"\nOr without installing, from a server of symbols, which debuginfod-find\n"
		"(package debuginfod) asks by build-id. DEBUGINFOD_URLS, which names the server,\n"
		"is not set now:\n" INDENT "export DEBUGINFOD_URLS=%s\n",
		url ? url : "URL");
}

static void put_remedies(const struct table *table, FILE *out)
{
	char chosen[MAX_FILES][PACKAGE_NAME_SIZE];
	uint32_t ownerless;
	unsigned int n = choose_packages(table, chosen, &ownerless);

	if (n && packages_have_symbols(&table->packages)) {
		fprintf(out, "\nTo install the symbols of these packages on %s:\n",
			table->packages.system);
		packages_commands(&table->packages, chosen, n, INDENT, out);
	}
	put_debuginfod(table, out);
	if (ownerless)
		fputs("\nFiles of no package of this system: keep their symbols when they are "
		      "built\n"
		      "(do not strip them, do not link with -s). --from FILE --debuginfo DIR "
		      "names\n"
		      "functions afterwards, by debug files in DIR.\n",
		      out);
}

static void put_table(struct table *table, FILE *out)
{
	const struct unnamed *all = &table->unnamed;

	while (table->n < all->n && table->n < MAX_FILES && all->files[table->n].unnamed)
		table->n++;
	fprintf(out, "%.1f %% of %" PRIu64 " user frames have no symbol%s\n",
		percent(all->unnamed, all->frames), all->frames, table->n ? ":" : ".");
	if (!table->n)
		return;
	find_owners(table);
	fputc('\n', out);
	put_rows(table, out);
	put_remedies(table, out);
}

static void table_clear(struct table *table)
{
	unnamed_clear(&table->unnamed);
	confined_free(table->readers);
	images_free(table->images);
}

int symbols_table_write(const struct tally *tally, const struct names *names, FILE *out,
			struct error *err)
{
	own(table_clear) struct table table = { .names = names };
	int r = unnamed_count(tally, names, &table.unnamed);

	if (r == 0)
		r = images_new(NULL, &table.images);
	if (r == 0)
		r = confined_new(&confined_limits_default, &table.readers);
	if (r < 0)
		return error_set(err, r, "out of memory");
	packages_open(&table.packages);
	put_table(&table, out);
	return 0;
}
