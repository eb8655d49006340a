/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON as text, for writers: strings that anybody may have chosen, and what the measurement was.
 * Must not know: formats.
 */
#ifndef STACKTALLY_VIEW_JSON_TEXT_H
#define STACKTALLY_VIEW_JSON_TEXT_H

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "view/profile.h"

/*
 * A JSON string with its quotes: what bytes_name() lets through, escaped. `<` is escaped as well,
 * so that JSON can stand in a page without ending its script.
 */
void json_string_n(struct bytes *bytes, const char *string, size_t size);

static inline void json_string(struct bytes *bytes, const char *string)
{
	json_string_n(bytes, string, strlen(string));
}

/* `"key":`, the key being one of ours. */
void json_key(struct bytes *bytes, const char *key);

/* An object of what the measurement was: docs/json.md, "measurement". */
void json_measurement(struct bytes *bytes, const struct profile *profile);

#endif
