/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels of Ruby's functions as its backtraces have them from 3.4 on, with the class of the method:
 * "block in Store#find".
 */
#ifndef STACKTALLY_TALLY_RUBY_LABEL_H
#define STACKTALLY_TALLY_RUBY_LABEL_H

/*
 * Changes "Store#block in find", in place: the class, up to the first '#' or '.', is put before the
 * method's own name. What has no class stays. The result is as long.
 */
void ruby_label_show(char *name);

#endif
