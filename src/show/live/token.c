// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

int token_make(char ret_token[TOKEN_DIGITS + 1])
{
	unsigned char bytes[TOKEN_DIGITS / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret_token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* -EEXIST: there is a file already. */
static int make_file(const char *path, char ret_token[TOKEN_DIGITS + 1])
{
	own(own_fd) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char line[TOKEN_DIGITS + 2];
	int r;

	if (fd < 0)
		return -errno;
	r = token_make(ret_token);
	snprintf(line, sizeof(line), "%s\n", ret_token);
	if (r == 0 && write(fd, line, TOKEN_DIGITS + 1) != TOKEN_DIGITS + 1)
		r = errno ? -errno : -EIO;
	if (r < 0)
		unlink(path);
	return r;
}

/* -EACCES: others can read it; -EINVAL: it holds no token. */
static int read_token(const char *path, char ret_token[TOKEN_DIGITS + 1])
{
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat is;
	char text[TOKEN_DIGITS + 2];
	ssize_t n;

	if (fd < 0 || fstat(fd, &is) < 0)
		return -errno;
	if (!S_ISREG(is.st_mode))
		return -EINVAL;
	if ((is.st_mode & 077) || is.st_uid != geteuid())
		return -EACCES;
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return -errno;
	if (n < TOKEN_DIGITS || (n > TOKEN_DIGITS && text[TOKEN_DIGITS] != '\n'))
		return -EINVAL;
	text[TOKEN_DIGITS] = '\0';
	if (strspn(text, "0123456789abcdef") != TOKEN_DIGITS)
		return -EINVAL;
	memcpy(ret_token, text, TOKEN_DIGITS + 1);
	return 0;
}

int token_of_file(const char *path, char ret_token[TOKEN_DIGITS + 1], struct error *err)
{
	int r = make_file(path, ret_token);

	if (r == -EEXIST)
		r = read_token(path, ret_token);
	if (r == -EACCES)
		return error_set(err, r,
				 "cannot use the token in '%s': it has to belong to the user "
				 "of this command, with the mode 600",
				 path);
	if (r == -EINVAL)
		return error_set(err, r,
				 "'%s' does not hold a token, which is a line of %d "
				 "hexadecimal digits",
				 path, TOKEN_DIGITS);
	return r < 0 ? error_set(err, r, "cannot read or make the token file '%s': %s", path,
				 strerror(-r))
		     : 0;
}

bool token_equal(const char token[TOKEN_DIGITS + 1], const char *other, size_t size)
{
	volatile unsigned char different = 0;

	if (size != TOKEN_DIGITS)
		return false;
	for (size_t i = 0; i < TOKEN_DIGITS; i++)
		different |= (unsigned char)(token[i] ^ other[i]);
	return different == 0;
}
