/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel calls a thread or process now: comm, of prctl(PR_SET_NAME) and of exec. */
#ifndef STACKTALLY_PROCESS_THREAD_COMM_H
#define STACKTALLY_PROCESS_THREAD_COMM_H

#include <stdint.h>

#define COMM_SIZE 64 /* those of the kernel's worker threads are longer than other threads' */

/* Returns ret_comm: of a thread or of the first thread of a process; untrusted; "" if it has ended.
 */
const char *comm_read(uint32_t tid, char ret_comm[COMM_SIZE]);

#endif
