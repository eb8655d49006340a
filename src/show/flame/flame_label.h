/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shorter forms of a function's name for a box that is too narrow for it, so that the part which
 * tells functions apart stays. Pages have the same rules (flame/page/label.js);
 * tests/browser/labels.tsv has examples of both.
 */
#ifndef STACKTALLY_FLAME_FLAME_LABEL_H
#define STACKTALLY_FLAME_FLAME_LABEL_H

#include <stdbool.h>

enum flame_shorter {
	FLAME_NO_ARGUMENTS, /* without lists of arguments: std::map<int, T>::at */
	FLAME_NO_TEMPLATES, /* and without what stands in angle brackets: std::map::at */
	FLAME_NO_NAMESPACE, /* and without namespaces or the path of a package: at */
	FLAME_N_SHORTER,
};

/* Takes away one part, in place. The steps build on one another. */
void flame_label_shorten(char *name, enum flame_shorter step);

#endif
