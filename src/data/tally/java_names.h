/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of Java's methods as stack traces have them, from those that the virtual machine has: with
 * dots between packages, and without the numbers that classes without a name get anew in each run.
 */
#ifndef STACKTALLY_TALLY_JAVA_NAMES_H
#define STACKTALLY_TALLY_JAVA_NAMES_H

/* Changes "java/util/List.get", in place; the result is never longer. */
void java_name_show(char *name);

#endif
