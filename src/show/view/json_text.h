/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON text: untrusted strings, and the facts of the measurement. Must not know: formats.
 */
#ifndef STACKTALLY_VIEW_JSON_TEXT_H
#define STACKTALLY_VIEW_JSON_TEXT_H

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "view/profile.h"

/*
 * Appends a JSON string with its quotes, cleaned as by bytes_name() and escaped. `<` is escaped as
 * well, so that JSON in a page cannot end its script element.
 */
void json_string_n(struct bytes *bytes, const char *string, size_t size);

static inline void json_string(struct bytes *bytes, const char *string)
{
	json_string_n(bytes, string, strlen(string));
}

/* Appends `"key":`; the key is not escaped. */
void json_key(struct bytes *bytes, const char *key);

/* Appends the object that docs/json.md calls "measurement". */
void json_measurement(struct bytes *bytes, const struct profile *profile);

#endif
