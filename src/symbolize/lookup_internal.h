/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files lookup*.c share: lookup.c groups addresses, lookup_group.c looks up one group.
 */
#ifndef STACKTALLY_SYMBOLIZE_LOOKUP_INTERNAL_H
#define STACKTALLY_SYMBOLIZE_LOOKUP_INTERNAL_H

#include "symbolize/file_symbols.h"
#include "symbolize/lookup.h"

/* Where an address is looked up. */
enum lookup_scope {
	SCOPE_NONE, /* nowhere: nothing is mapped there */
	SCOPE_KERNEL,
	SCOPE_FILE,    /* id: the file's; key: the offset in it */
	SCOPE_VDSO,    /* key: the offset in it */
	SCOPE_PROCESS, /* id: the image's; key: the address */
};

struct lookup_request {
	uint64_t key;
	uint32_t id;
	uint32_t index : 29; /* of the address; LOOKUP_MAX fits */
	uint32_t scope : 3;
};

/* The requests of one scope and id, sorted by key, and the addresses they came from. */
struct lookup_group {
	const struct tally_address *addresses;
	struct symbol_match *matches; /* one for each address: the result */
	const struct lookup_request *requests;
	uint32_t n; /* requests */
};

/*
 * Looks up a group of any scope but SCOPE_FILE. What is not found keeps the match it had. 0 or a
 * negative errno.
 */
int lookup_group(struct lookup *lookup, const struct lookup_group *group);

/* The same for a group of SCOPE_FILE, in steps, in this order. A child reads the file meanwhile. */
struct file_lookup {
	struct lookup_group group;
	struct symbol_query *queries; /* what of the group is not in the cache yet */
	size_t n;
	int fd;		  /* -1: there is nothing to read */
	const char *path; /* or NULL */
	uint32_t id, key; /* of the file, and its key in the cache */
	struct file_symbols_call call;
};

#define FILE_LOOKUP_NONE ((struct file_lookup){ .fd = -1, .call = FILE_SYMBOLS_CALL_NONE })

/* Each returns 0 or a negative errno. */
int file_lookup_open(struct lookup *lookup, const struct lookup_group *group,
		     struct file_lookup *ret_file);
int file_lookup_ask(struct lookup *lookup, struct file_lookup *file);
int file_lookup_read(struct file_lookup *file);
int file_lookup_store(struct lookup *lookup, struct file_lookup *file);
void file_lookup_close(struct file_lookup *file);

#endif
