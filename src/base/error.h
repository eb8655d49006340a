/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors are values. A function whose failure must be explained to the user takes a
 * `struct error *` as its last parameter, fills it once with error_set(), and returns the
 * negative errno that error_set() returns. Nothing below the commands prints or exits.
 *
 * The text is one line without a final newline: what failed, on what, and what to do next.
 */
#ifndef STACKTALLY_BASE_ERROR_H
#define STACKTALLY_BASE_ERROR_H

/* The exit codes of both commands; a launched command's own code is passed on instead. */
enum exit_class {
	EXIT_CLASS_OK = 0,
	EXIT_CLASS_RUNTIME = 1,	  /* something failed while running */
	EXIT_CLASS_USAGE = 2,	  /* the command line is wrong */
	EXIT_CLASS_PRIVILEGE = 3, /* the text names the missing privilege or kernel feature */
	EXIT_CLASS_MORE = 4,	  /* --fail-if-more: a function grew */
};

struct error {
	enum exit_class exit_class; /* 0: no error */
	char text[1500];
};

/*
 * Fills `err` (which may be NULL) with a runtime error and returns `code`, a negative errno.
 * error_privilege() and error_usage() differ in the exit class only.
 */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int error_privilege(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int error_usage(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For the end of a message: what to do where a limit of this process is the cause; or "". */
const char *error_remedy(int code);

#endif
