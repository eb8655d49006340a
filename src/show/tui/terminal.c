// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Alternate screen, cleared, without cursor and line wrapping; and the reverse. */
#define ENTER "\033[?1049h\033[2J\033[?25l\033[?7l"
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"

/* How long terminal_suspend() waits for the stop, which the kernel may refuse. */
#define SUSPEND_TURNS	25
#define SUSPEND_TURN_MS 20

/* After this time, a terminal that takes no output is not restored. */
#define LEAVING_MS 500

static const int ending_signals[] = { SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGSEGV,
				      SIGBUS,  SIGILL,	SIGFPE,	 SIGABRT, SIGSYS,
				      SIGTRAP, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM };

#define N_ENDING (sizeof(ending_signals) / sizeof(ending_signals[0]))

/* Global because signal handlers need it. */
static struct {
	volatile sig_atomic_t fd; /* -1: not open */
	volatile sig_atomic_t resumed;
	volatile sig_atomic_t suspended; /* restored until the process goes on */
	struct termios before, raw;
	struct sigaction old[N_ENDING], old_stop, old_continue;
} terminal = { .fd = -1 };

static bool names_utf8(const char *encoding)
{
	return encoding && (strcasestr(encoding, "utf-8") || strcasestr(encoding, "utf8"));
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

struct terminal_capabilities terminal_capabilities_of(const char *type, const char *colorterm,
						      const char *no_color, const char *encoding)
{
	struct terminal_capabilities capabilities = { .utf8 = names_utf8(encoding) };

	if (!type || !*type || strcmp(type, "dumb") == 0 || strcmp(type, "unknown") == 0)
		return capabilities;
	capabilities.cursor_addressing = true;
	if ((no_color && *no_color) || begins(type, "vt1") || begins(type, "vt2") ||
	    strstr(type, "-mono"))
		capabilities.colours = SCREEN_COLOURS_NONE;
	else if (colorterm &&
		 (strcmp(colorterm, "truecolor") == 0 || strcmp(colorterm, "24bit") == 0))
		capabilities.colours = SCREEN_COLOURS_ALL;
	else if (strstr(type, "-direct") || begins(type, "xterm-kitty") || begins(type, "foot") ||
		 begins(type, "alacritty") || begins(type, "xterm-ghostty"))
		capabilities.colours = SCREEN_COLOURS_ALL;
	else if (strstr(type, "256color"))
		capabilities.colours = SCREEN_COLOURS_256;
	else
		capabilities.colours = SCREEN_COLOURS_16;
	return capabilities;
}

struct terminal_capabilities terminal_capabilities(void)
{
	const char *encoding = getenv("LC_ALL");

	if (!encoding || !*encoding)
		encoding = getenv("LC_CTYPE");
	if (!encoding || !*encoding)
		encoding = getenv("LANG");
	return terminal_capabilities_of(getenv("TERM"), getenv("COLORTERM"), getenv("NO_COLOR"),
					encoding);
}

bool terminal_is_writable(int fd, int timeout_ms)
{
	struct pollfd out = { .fd = fd, .events = POLLOUT };

	return poll(&out, 1, timeout_ms) > 0;
}

/* Async-signal-safe. Gives up when the terminal takes no output. */
static void put(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EAGAIN && !terminal_is_writable(fd, LEAVING_MS))
			return;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		}
	}
}

static void restore(int fd)
{
	tcsetattr(fd, TCSANOW, &terminal.before);
	put(fd, LEAVE, strlen(LEAVE));
}

static void on_end(int number)
{
	int saved = errno, fd = terminal.fd;

	if (fd >= 0) {
		terminal.fd = -1;
		restore(fd);
	}
	/* The default action follows when the handler returns. */
	signal(number, SIG_DFL);
	raise(number);
	errno = saved;
}

static void take_over_again(void);

static void on_stop(int number)
{
	sigset_t only;
	int saved = errno;

	terminal.suspended = 1;
	if (terminal.fd >= 0)
		restore(terminal.fd);
	signal(number, SIG_DFL);
	raise(number);
	sigemptyset(&only);
	sigaddset(&only, number);
	/* The process stops here, until SIGCONT. */
	pthread_sigmask(SIG_UNBLOCK, &only, NULL);
	/* If it did not stop, its process group is orphaned: there is no shell to continue it. */
	take_over_again();
	errno = saved;
}

static void take_over_again(void)
{
	struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART };

	if (terminal.fd >= 0) {
		tcsetattr(terminal.fd, TCSANOW, &terminal.raw);
		put(terminal.fd, ENTER, strlen(ENTER));
	}
	sigaction(SIGTSTP, &stop, NULL);
	terminal.suspended = 0;
	terminal.resumed = 1;
}

static void on_continue(int number)
{
	int saved = errno;

	(void)number;
	take_over_again();
	errno = saved;
}

void terminal_suspend(void)
{
	if (terminal.fd < 0)
		return;
	terminal.resumed = 0;
	terminal.suspended = 1;
	restore(terminal.fd);
	signal(SIGTSTP, SIG_DFL);
	kill(0, SIGTSTP);
	for (uint32_t i = 0; i < SUSPEND_TURNS && !terminal.resumed; i++)
		poll(NULL, 0, SUSPEND_TURN_MS);
	take_over_again();
}

bool terminal_is_suspended(void)
{
	return terminal.suspended;
}

static void handle_signals(void)
{
	struct sigaction end = { .sa_handler = on_end };
	struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
	struct sigaction go_on = { .sa_handler = on_continue, .sa_flags = SA_RESTART };

	sigfillset(&end.sa_mask);
	for (size_t i = 0; i < N_ENDING; i++) {
		sigaction(ending_signals[i], NULL, &terminal.old[i]);
		/* Ignored signals, as under nohup, stay ignored. */
		if (terminal.old[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &end, NULL);
	}
	sigaction(SIGTSTP, &stop, &terminal.old_stop);
	sigaction(SIGCONT, &go_on, &terminal.old_continue);
}

static void restore_signals(void)
{
	for (size_t i = 0; i < N_ENDING; i++)
		sigaction(ending_signals[i], &terminal.old[i], NULL);
	sigaction(SIGTSTP, &terminal.old_stop, NULL);
	sigaction(SIGCONT, &terminal.old_continue, NULL);
}

int terminal_open(struct error *err)
{
	own(own_fd) int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || tcgetattr(fd, &terminal.before) < 0)
		return error_set(err, -errno, "cannot draw: there is no terminal: %s",
				 strerror(errno));
	terminal.raw = terminal.before;
	terminal.raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | ISTRIP);
	terminal.raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | ISIG | IEXTEN);
	terminal.raw.c_oflag &= ~(tcflag_t)OPOST;
	terminal.raw.c_cc[VMIN] = 1;
	terminal.raw.c_cc[VTIME] = 0;
	if (tcsetattr(fd, TCSAFLUSH, &terminal.raw) < 0)
		return error_set(err, -errno, "cannot set up the terminal: %s", strerror(errno));
	terminal.resumed = terminal.suspended = 0;
	terminal.fd = fd;
	handle_signals();
	put(fd, ENTER, strlen(ENTER));
	return take_fd(&fd);
}

void terminal_close(void)
{
	int fd = terminal.fd;

	if (fd < 0)
		return;
	terminal.fd = -1;
	restore(fd);
	restore_signals();
	close(fd);
}

bool terminal_was_resumed(void)
{
	bool stopped = terminal.resumed;

	terminal.resumed = 0;
	return stopped;
}

void terminal_size(int fd, uint32_t *ret_rows, uint32_t *ret_columns)
{
	struct winsize size = { 0 };

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	*ret_rows = size.ws_row;
	*ret_columns = size.ws_col;
}
