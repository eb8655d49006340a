/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A search for functions by a POSIX extended regular expression: remembers which frames of a
 * growing table match. Ignores case unless the expression has a capital letter.
 */
#ifndef STACKTALLY_TUI_SEARCH_H
#define STACKTALLY_TUI_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flame/flame_frames.h"

#define SEARCH_MAX_SIZE 256 /* of an expression that is typed, bytes with the NUL */

struct search;

/*
 * The caller frees it with search_free(). 0, -ENOMEM, or -EINVAL when it is not a regular
 * expression; `ret_why`, of `size` bytes, then says why.
 */
int search_new(const char *expression, char *ret_why, size_t size, struct search **ret_search);
/* A search for exactly this name. 0 or -ENOMEM. */
int search_new_name(const char *name, struct search **ret_search);
void search_free(struct search *search);

/* The expression or the name. */
const char *search_text(const struct search *search);

/* Matches the frames that are new since the last call. 0 or -ENOMEM. */
int search_update(struct search *search, const struct flame_frame *frames, uint32_t n_frames);
/* Whether the frame matches; false if search_update() has not seen it, or `search` is NULL. */
bool search_finds(const struct search *search, uint32_t frame);

#endif
