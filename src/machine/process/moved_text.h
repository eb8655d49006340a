/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that a program put into anonymous memory where one of its files is loaded. Node, Chromium
 * and MySQL move their text to huge pages so: it is the file's as before, which is found by
 * comparing bytes of both. Packed programs unpack themselves there: no file has their code.
 * Must not know: images.
 */
#ifndef STACKTALLY_PROCESS_MOVED_TEXT_H
#define STACKTALLY_PROCESS_MOVED_TEXT_H

#include "process/snapshot.h"

/* The name of the mapping of a packed program's code. */
#define MOVED_TEXT_PACKED "[packed]"

/*
 * If `mapping`, which is anonymous, lies where the file that `near` maps is loaded, makes it a
 * mapping of that file or of a packed program's code. Returns whether it did.
 */
bool moved_text_find(const struct snapshot_context *context, pid_t tgid, const struct mapping *near,
		     struct mapping *mapping);

#endif
