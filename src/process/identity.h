/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a file that file: how the kernel told of it when it was mapped (a sighting), what
 * it tells of itself once it is open (its identity), and that both belong together. Never takes
 * another file that stands at the same path now.
 */
#ifndef STACKTALLY_PROCESS_IDENTITY_H
#define STACKTALLY_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/build_id.h"
#include "process/answering.h"
#include "process/namespaces.h"

/* How a file was met: in a line of maps, or in a record of the kernel. */
struct file_sighting {
	const char *path;      /* as told, " (deleted)" still on it; outlives the files */
	const char *undeleted; /* without it; the same pointer when there is none */
	uint64_t start, end;   /* where it is mapped, for map_files */
	uint64_t device, inode, generation; /* as told; 0 when a build-id is told instead */
	const uint8_t *build_id;
	uint32_t build_id_size;
	uint32_t root; /* of the process: an id of namespaces.h, or ROOT_UNKNOWN */
};

struct file_identity {
	dev_t device; /* as stat has them, which is not always what maps says */
	ino_t inode;
	uint64_t size;
	int64_t mtime_ns;
	uint32_t build_id_size;
	uint8_t build_id[BUILD_ID_MAX];
	bool elf;
};

/* Remembers that map_files needs a capability that we do not have. */
struct sighting_access {
	const struct roots *roots;
	struct answering *answering;
	bool map_files_denied;
};

/* Where a file is that was opened. */
struct sighting_place {
	int fd; /* O_PATH; closed by who asked */
	enum mount_kind kind;
};

/*
 * Opens what was sighted: by its mapping, then by its path in the process's root, in the root
 * that was kept, and in ours, then as the program that the process runs. A descriptor
 * (O_RDONLY), where it may be the head only of what is not local (answering.h), or a negative
 * errno; -ESTALE: there are only others; -ETIMEDOUT: its file system does not answer.
 */
int sighting_open(struct sighting_access *access, const struct file_sighting *sighting,
		  const struct process_view *view, struct stat *ret_status,
		  struct sighting_place *ret_place);

void identity_read(int fd, const struct stat *status, struct file_identity *ret_identity);
uint64_t identity_hash(const struct file_identity *identity);
/* The same content: by build-id and size, else by inode and times. */
bool identity_equal(const struct file_identity *a, const struct file_identity *b);
/* What is open is what had this identity; nobody wrote to it. */
bool identity_holds(const struct file_identity *identity, int fd, const struct stat *status);
bool identity_unwritten(const struct file_identity *identity, const struct stat *status);
bool identity_same_inode(const struct file_identity *identity, const struct stat *status);

#endif
