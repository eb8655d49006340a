/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A search for functions by a regular expression (POSIX, extended): which frames of a growing table
 * match. Letters match in either case unless the expression has capitals.
 */
#ifndef STACKTALLY_TUI_SEARCH_H
#define STACKTALLY_TUI_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flame/flame_frames.h"

#define SEARCH_MAX_SIZE 256

struct search;

/* 0; -EINVAL when it is no regular expression, then `ret_why` says why not. */
int search_new(const char *expression, char *ret_why, size_t size, struct search **ret_search);
/* One that finds exactly this name. */
int search_new_name(const char *name, struct search **ret_search);
void search_free(struct search *search);

const char *search_text(const struct search *search);

/* Looks at frames that are new since the last time. 0 or -ENOMEM. */
int search_update(struct search *search, const struct flame_frame *frames, uint32_t n_frames);
/* Whether a frame matches that search_update() has seen; NULL finds nothing. */
bool search_finds(const struct search *search, uint32_t frame);

#endif
