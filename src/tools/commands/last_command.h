/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `stacktally last TIME [--of NAME] [OPTION...]`: reports what was kept by --keep. */
#ifndef STACKTALLY_COMMANDS_LAST_COMMAND_H
#define STACKTALLY_COMMANDS_LAST_COMMAND_H

/* argv[0] is "last". Prints errors; returns the exit code. */
int last_command(int argc, char **argv);

#endif
