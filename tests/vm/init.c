// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first process of a test machine. Its memory file system holds this program, kernel modules
 * (/modules, with /modules/order saying in which order to load them) and the job:
 *
 *   /job/argv, /job/env  what to run, NUL-separated
 *   /job/cwd             where
 *   /job/plain           directories to show as the host has them, a line each
 *   /job/shares          directories of the host that come by 9p of their own, a line each
 *
 * With /job/boot, the path of an init, the machine is that init's instead: its root is what comes
 * by 9p, under a memory overlay.
 *
 * The host's root file system comes by 9p, read-only. Over it lie an empty /tmp and /run, and
 * memory overlays where programs expect to write. /job/plain directories lie over these in turn:
 * files under an overlay have other device numbers in /proc/PID/maps than in stat(), which no
 * test should meet by accident. Output goes to the virtio port "output"; the port "status" is
 * told `started`, then the exit status.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROOT	   "/host"
#define P9_OPTIONS "trans=virtio,version=9p2000.L,msize=512000,cache=loose"

static void __attribute__((noreturn)) power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

/* Writes to the console, because the ports may not work. */
static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	printf("init: ");
	vprintf(format, args);
	printf(": %s\n", strerror(error));
	fflush(stdout);
	va_end(args);
	power_off();
}

/* A whole file, with a NUL behind it; never freed. */
static char *slurp(const char *path, size_t *ret_size)
{
	struct stat st;
	char *text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		die("%s", path);
	text = calloc(1, st.st_size + 1);
	if (!text || read(fd, text, st.st_size) != st.st_size)
		die("%s", path);
	close(fd);
	if (ret_size)
		*ret_size = st.st_size;
	return text;
}

/* NUL-separated strings as a vector. */
static char **strings_of(const char *path)
{
	size_t size, n = 0, at;
	char *text = slurp(path, &size), **strings;

	strings = calloc(size + 1, sizeof(*strings));
	if (!strings)
		die("%s", path);
	for (at = 0; at < size; at += strlen(text + at) + 1)
		strings[n++] = text + at;
	return strings;
}

static void load_modules(void)
{
	char *name, *rest = NULL, path[300];

	for (name = strtok_r(slurp("/modules/order", NULL), "\n", &rest); name;
	     name = strtok_r(NULL, "\n", &rest)) {
		int fd;

		snprintf(path, sizeof(path), "/modules/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			die("module %s", name);
		close(fd);
	}
}

static void make_directories(const char *path)
{
	char copy[4096], *slash;

	snprintf(copy, sizeof(copy), "%s", path);
	for (slash = copy + 1; *slash; slash++) {
		if (*slash != '/')
			continue;
		*slash = '\0';
		mkdir(copy, 0755);
		*slash = '/';
	}
	mkdir(copy, 0755);
}

static void must_mount(const char *source, const char *target, const char *type,
		       unsigned long flags, const char *options)
{
	if (mount(source, target, type, flags, options))
		die("mount %s on %s", source, target);
}

/* Makes a directory of the host writable; changes go to /run. */
static void overlay(const char *path)
{
	char lower[256], upper[256], work[256], options[1024];
	struct stat st;

	snprintf(lower, sizeof(lower), ROOT "%s", path);
	if (stat(lower, &st))
		return;
	snprintf(upper, sizeof(upper), ROOT "/run/overlay%s/upper", path);
	snprintf(work, sizeof(work), ROOT "/run/overlay%s/work", path);
	make_directories(upper);
	make_directories(work);
	chmod(upper, st.st_mode & 07777);
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", lower, upper,
		 work);
	must_mount("overlay", lower, "overlay", 0, options);
}

static void mount_shares(void)
{
	char *path, *rest = NULL, tag[32], to[4096];
	int n = 0;

	for (path = strtok_r(slurp("/job/shares", NULL), "\n", &rest); path;
	     path = strtok_r(NULL, "\n", &rest)) {
		snprintf(tag, sizeof(tag), "share%d", n++);
		snprintf(to, sizeof(to), ROOT "%s", path);
		must_mount(tag, to, "9p", MS_RDONLY, P9_OPTIONS);
	}
}

static void mount_host(void)
{
	char *path, *rest = NULL, from[4096], to[4096];

	mkdir(ROOT, 0755);
	must_mount("root", ROOT, "9p", MS_RDONLY, P9_OPTIONS);
	must_mount("tmpfs", ROOT "/run", "tmpfs", 0, "mode=755");
	make_directories(ROOT "/run/lock");
	make_directories(ROOT "/run/host");
	must_mount(ROOT, ROOT "/run/host", NULL, MS_BIND, NULL);
	must_mount("tmpfs", ROOT "/tmp", "tmpfs", 0, "mode=1777");
	overlay("/var");
	overlay("/etc");
	overlay("/root");
	overlay("/home");
	mount_shares();
	for (path = strtok_r(slurp("/job/plain", NULL), "\n", &rest); path;
	     path = strtok_r(NULL, "\n", &rest)) {
		snprintf(from, sizeof(from), ROOT "/run/host%s", path);
		snprintf(to, sizeof(to), ROOT "%s", path);
		make_directories(to);
		must_mount(from, to, NULL, MS_BIND, NULL);
	}
}

/* The file systems that Debian mounts; a kernel may lack some. */
static void mount_kernel(void)
{
	static const struct {
		const char *type, *target, *options;
	} mounts[] = {
		{ "devpts", ROOT "/dev/pts", "gid=5,mode=620,ptmxmode=000" },
		{ "tmpfs", ROOT "/dev/shm", "mode=1777" },
		{ "tracefs", ROOT "/sys/kernel/tracing", NULL },
		{ "debugfs", ROOT "/sys/kernel/debug", NULL },
		{ "bpf", ROOT "/sys/fs/bpf", "mode=700" },
		{ "cgroup2", ROOT "/sys/fs/cgroup", NULL },
	};

	must_mount("/dev", ROOT "/dev", NULL, MS_MOVE, NULL);
	must_mount("/proc", ROOT "/proc", NULL, MS_MOVE, NULL);
	must_mount("/sys", ROOT "/sys", NULL, MS_MOVE, NULL);
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mkdir(mounts[i].target, 0755);
		if (mount(mounts[i].type, mounts[i].target, mounts[i].type, 0, mounts[i].options))
			printf("init: no %s: %s\n", mounts[i].type, strerror(errno));
	}
	if (symlink("/proc/self/fd", ROOT "/dev/fd") || symlink("fd/0", ROOT "/dev/stdin") ||
	    symlink("fd/1", ROOT "/dev/stdout") || symlink("fd/2", ROOT "/dev/stderr"))
		die("links in /dev");
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		printf("init: no loopback: %s\n", strerror(errno));
	close(fd);
}

/* Hands the machine over to the init of the file system that comes by 9p. */
static void __attribute__((noreturn)) boot_other(char *init)
{
	char *argv[] = { init, NULL };

	make_directories("/lower");
	make_directories("/memory");
	mkdir(ROOT, 0755);
	must_mount("root", "/lower", "9p", MS_RDONLY, P9_OPTIONS);
	must_mount("tmpfs", "/memory", "tmpfs", 0, "mode=755");
	make_directories("/memory/upper");
	make_directories("/memory/work");
	must_mount("overlay", ROOT, "overlay", 0,
		   "lowerdir=/lower,upperdir=/memory/upper,workdir=/memory/work");
	must_mount("/dev", ROOT "/dev", NULL, MS_MOVE, NULL);
	must_mount("/proc", ROOT "/proc", NULL, MS_MOVE, NULL);
	must_mount("/sys", ROOT "/sys", NULL, MS_MOVE, NULL);
	if (chdir(ROOT) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		die("change of root");
	execv(init, argv);
	die("%s", init);
}

/* Opens the port with that name; -1 until the driver has made it. */
static int try_port(const char *name)
{
	DIR *ports = opendir("/sys/class/virtio-ports");
	struct dirent *entry;
	int fd = -1;

	while (ports && fd < 0 && (entry = readdir(ports))) {
		char path[400], got[64] = "";
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (!fgets(got, sizeof(got), file))
			got[0] = '\0';
		fclose(file);
		got[strcspn(got, "\n")] = '\0';
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		if (!strcmp(got, name))
			fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	if (ports)
		closedir(ports);
	return fd;
}

static int open_port(const char *name)
{
	struct timespec pause_between = { .tv_nsec = 1000000 };
	int fd;

	for (int tries = 0; tries < 10000; tries++) {
		fd = try_port(name);
		if (fd >= 0)
			return fd;
		nanosleep(&pause_between, NULL);
	}
	die("no port %s", name);
}

static void write_all(int fd, const char *data, ssize_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("write to a port");
		data += n;
		size -= n;
	}
}

static pid_t start(int output)
{
	char **argv = strings_of("/job/argv"), **env = strings_of("/job/env");
	char *cwd = slurp("/job/cwd", NULL);
	sigset_t none;
	pid_t pid;

	/* The job was read from the old root; the command runs in the new one. */
	if (chdir(ROOT) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot("."))
		die("change of root");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
	dup2(output, 1);
	dup2(output, 2);
	environ = env;
	if (!chdir(cwd))
		execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void copy_output(int from, int to)
{
	static char buffer[65536];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		write_all(to, buffer, n);
}

/* Runs the job, copies its output, adopts and reaps orphans; returns its exit status. */
static int run(int port)
{
	int out[2], status, ended = 0, result = -1;
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	sigset_t child;
	pid_t pid, job;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	if (pipe2(out, O_CLOEXEC) || fcntl(out[0], F_SETFL, O_NONBLOCK))
		die("pipe");
	fds[0].fd = out[0];
	fds[1].fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	/* Our writing end stays open: the loop ends with the job, not with the pipe. */
	job = start(out[1]);
	while (!ended) {
		struct signalfd_siginfo info;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			die("poll");
		copy_output(out[0], port);
		if (read(fds[1].fd, &info, sizeof(info)) < 0 && errno != EAGAIN)
			die("signalfd");
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid != job)
				continue;
			ended = 1;
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
	}
	copy_output(out[0], port);
	return result;
}

int main(void)
{
	int output, status_port, status;

	if (getpid() != 1) {
		fprintf(stderr, "init: only for a test machine's first process\n");
		return 2;
	}
	must_mount("devtmpfs", "/dev", "devtmpfs", 0, "mode=755");
	must_mount("proc", "/proc", "proc", 0, NULL);
	must_mount("sysfs", "/sys", "sysfs", 0, NULL);
	load_modules();
	if (access("/job/boot", F_OK) == 0)
		boot_other(slurp("/job/boot", NULL));
	output = open_port("output");
	status_port = open_port("status");
	mount_host();
	mount_kernel();
	loopback_up();
	sethostname("vm", 2);
	dprintf(status_port, "started\n");
	status = run(output);
	dprintf(status_port, "%d\n", status);
	/* The host must read the ports before the machine is off. */
	fsync(output);
	power_off();
}
