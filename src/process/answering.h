/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a file can be asked anything. On a network's file system, or one that a process serves,
 * whose other end is gone, every call waits for ever, and not even SIGKILL ends all of them. So
 * files of file systems without a block device are asked first by a child, which is left behind
 * if it does not come back in time; what it found holds for its file system for a while.
 *
 * Must not know: what files are wanted for. One user at a time.
 */
#ifndef STACKTALLY_PROCESS_ANSWERING_H
#define STACKTALLY_PROCESS_ANSWERING_H

struct answering;

/* 0 or -ENOMEM. */
int answering_new(struct answering **ret_answering);
void answering_free(struct answering *answering);

/*
 * 0: what an O_PATH (or other) descriptor stands for may be looked at, opened and read; -ETIMEDOUT:
 * its file system does not answer, use nothing of it. What cannot be found out is taken to answer.
 */
int answering_ask(struct answering *answering, int path_fd);

#endif
