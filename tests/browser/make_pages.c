// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the pages that the browser test opens: make_pages DIR
 *
 *	known.*		stacks of three processes, with known shares
 *	changed.*	the same compared with others
 *	later.html	as known.html, after more samples
 *	grown.*		these compared by count with those of changed.*
 *	waits.html	a thread that runs, is blocked and waits for a CPU, and what ended its waits
 *	sleepers.html	threads that have slept since before the measurement
 *	groups.html	a service, and a pod of two containers
 *	kinds.*		a frame of each kind, and far more on top than a window shows
 *	many.svg	440,000 boxes, far more than a picture holds; every stack ends in `leaf`
 *	million.html	1,000,000 distinct stacks, as call graphs have them
 *	hostile.*	names that try to be markup or script; hostile.names: as they must be shown
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "flame/flame_frames.h"
#include "report/writer.h"
#include "tally/scripts.h"

DEFINE_OWN(struct flame_frames, flame_frames_free)

static struct tally *tally;
static struct names *names;
static const char *directory;
static bool raw; /* compare counts as they are */

static void fail(const char *what)
{
	fprintf(stderr, "make_pages: %s\n", what);
	exit(1);
}

static uint32_t address(const char *name, uint32_t flags, const char *module)
{
	struct tally_address it = { .address = names_n_addresses(names), .image = 1 };
	struct names_frame frame = { .name = names_string(names, name),
				     .module = names_string(names, module),
				     .object = NAMES_NONE,
				     .flags = flags };
	uint32_t id;

	if (tally_address(tally, &it, &id) < 0 || names_add_address(names, &frame, 1) < 0)
		fail("out of memory");
	return id;
}

static void count(uint64_t n, const char *comm, uint32_t tgid, const uint32_t *user,
		  uint32_t n_user, const uint32_t *kernel, uint32_t n_kernel)
{
	struct tally_entry entry = { .count = n, .tgid = tgid, .tid = tgid + 1 };

	strncpy(entry.comm, comm, sizeof(entry.comm) - 1);
	if (tally_stack(tally, user, n_user, 0, &entry.user) < 0 ||
	    tally_stack(tally, kernel, n_kernel, 0, &entry.kernel) < 0 ||
	    tally_add(tally, &entry) < 0)
		fail("out of memory");
}

static void write_page(const struct writer *writer, const char *name, bool threads, bool compare,
		       const struct tally *base)
{
	struct profile_meta meta = { .command = "profile",
				     .command_line = "profile -F 99 -- '<b>&'",
				     .event = "cpu-clock",
				     .frequency = 99,
				     .hostname = "host<script>pwned()</script>" };
	struct report_options options = { .per_process = true,
					  .show_cgroup = names_n_cgroups(names) > 0,
					  .per_thread = threads,
					  .by_comm = compare,
					  .diff_scale = raw ? SCALE_COUNTS : SCALE_SHARES };
	const struct measurement before = { &meta, base, names };
	const struct report report = { .measurement = { &meta, tally, names, NULL },
				       .base = compare ? &before : NULL,
				       .options = &options };
	struct error err = { 0 };
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s.%s", directory, name, writer->name);
	out = fopen(path, "we");
	if (!out)
		fail(path);
	if (report_write(writer, &report, out, NULL, &err) < 0 || fclose(out) != 0)
		fail(err.text);
}

/* 1,000 samples in all. Leaf first. */
static void known(bool threads)
{
	uint32_t start = address("main", 0, "app"), alpha = address("alpha", 0, "app");
	uint32_t beta = address("ns::beta(int)", 0, "libbeta.so"),
		 gamma = address("gamma", 0, "app");
	uint32_t call = address("do_syscall_64", NAMES_FRAME_KERNEL, "[kernel]");
	uint32_t wait = address("schedule", NAMES_FRAME_KERNEL, "[kernel]");
	uint32_t rare = address("rare", 0, "app");
	struct tally *more = NULL, *kept = tally;

	count(400, "app", 100, (uint32_t[]){ beta, alpha, start }, 3, NULL, 0);
	count(150, "app", 100, (uint32_t[]){ alpha, start }, 2, (uint32_t[]){ wait, call }, 2);
	count(200, "app", 200, (uint32_t[]){ gamma, start }, 2, NULL, 0);
	count(200, "other", 300, (uint32_t[]){ beta, gamma, start }, 3, NULL, 0);
	count(49, "swapper", 0, NULL, 0, (uint32_t[]){ wait }, 1);
	count(1, "other", 300, (uint32_t[]){ rare, start }, 2, NULL, 0);
	write_page(&svg_writer, "known", false, false, NULL);
	write_page(&html_writer, "known", threads, false, NULL);
	/* alpha has gone, gamma has come to more. */
	if (tally_new(0, 0, &more) < 0)
		fail("out of memory");
	tally = more;
	for (uint32_t i = 0; i < tally_n_addresses(kept); i++) {
		struct tally_address it = tally_addresses(kept)[i];
		uint32_t id;

		if (tally_address(tally, &it, &id) < 0)
			fail("out of memory");
	}
	count(750, "app", 100, (uint32_t[]){ gamma, start }, 2, NULL, 0);
	count(250, "other", 300, (uint32_t[]){ beta, gamma, start }, 3, NULL, 0);
	write_page(&svg_writer, "changed", false, true, kept);
	write_page(&html_writer, "changed", false, true, kept);
	tally = kept;
	count(600, "app", 100, (uint32_t[]){ beta, alpha, start }, 3, NULL, 0);
	write_page(&html_writer, "later", threads, false, NULL);
	raw = true;
	write_page(&svg_writer, "grown", false, true, more);
	write_page(&html_writer, "grown", false, true, more);
	raw = false;
	tally_free(more);
	tally_free(tally);
}

/*
 * 100 samples in a service, 200 and 300 in two containers of a pod, 400 in one of a pod of Podman,
 * 500 in a container whose name looks like that of a pod.
 */
static void groups(void)
{
	static const struct names_label web[] = { { LABEL_CONTAINER_NAME, "web" },
						  { LABEL_POD, "shop-1" },
						  { LABEL_NAMESPACE, "prod" } },
					db[] = { { LABEL_CONTAINER_NAME, "db" },
						 { LABEL_POD, "shop-1" },
						 { LABEL_NAMESPACE, "prod" } },
					till[] = { { LABEL_CONTAINER_NAME, "till" },
						   { LABEL_POD, "shop" } },
					feigned[] = { { LABEL_CONTAINER_NAME, "prod/shop-1/x" } };
	static const struct names_cgroup in[] = { { 1, "/system.slice/cron.service", NULL, 0 },
						  { 2, "/kubepods/web", web, 3 },
						  { 3, "/kubepods/db", db, 3 },
						  { 4, "/libpod_parent/till", till, 2 },
						  { 5, "/user/feigned", feigned, 1 } };
	uint32_t main_of = address("main", 0, "app");

	for (uint32_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		struct tally_entry entry = { .count = 100 * (i + 1),
					     .cgroup = in[i].id,
					     .tgid = i + 1,
					     .kernel = TALLY_STACK_NONE,
					     .comm = "app" };

		if (names_add_cgroup(names, &in[i]) < 0 ||
		    tally_stack(tally, &main_of, 1, 0, &entry.user) < 0 ||
		    tally_add(tally, &entry) < 0)
			fail("out of memory");
	}
	write_page(&html_writer, "groups", false, false, NULL);
	tally_free(tally);
}

/* 100 samples ran, 500 were blocked: 300 until a thread put what they waited for, 200 until a
 * timer; 400 waited. */
static void waits(void)
{
	uint32_t main_of = address("main", 0, "app"), take = address("take", 0, "app");
	uint32_t libc = address("pthread_cond_wait", 0, "libc.so.6");
	uint32_t sleeps = address("futex_wait", NAMES_FRAME_KERNEL, "[kernel]");
	uint32_t leaves = address("schedule", NAMES_FRAME_KERNEL, "[kernel]");
	uint32_t blocked = address("[blocked]", NAMES_FRAME_BLOCKED, "");
	uint32_t waiting = address("[waiting for a CPU]", NAMES_FRAME_WAITING, "");
	uint32_t mark = address("--", 0, ""), other = address("feeder", NAMES_FRAME_IDENTITY, "");
	uint32_t put = address("put", 0, "app"), outer = address("feed", 0, "app");
	uint32_t wakes = address("try_to_wake_up", NAMES_FRAME_KERNEL, "[kernel]");
	uint32_t timer = address("[timer interrupt]", NAMES_FRAME_IDENTITY, "");
	const uint32_t user[] = { libc, take, main_of };

	count(100, "app", 7, user + 1, 2, NULL, 0);
	count(300, "app", 7, user, 3,
	      (uint32_t[]){ other, outer, put, wakes, mark, blocked, leaves, sleeps }, 8);
	count(200, "app", 7, user, 3, (uint32_t[]){ timer, wakes, mark, blocked, leaves, sleeps },
	      6);
	count(400, "app", 7, user, 3, (uint32_t[]){ waiting, leaves, sleeps }, 3);
	write_page(&html_writer, "waits", false, false, NULL);
	tally_free(tally);
}

/* Two threads that have slept since before the start, and one that was blocked for a while. */
static void sleepers(void)
{
	uint32_t main_of = address("main", 0, "app"), take = address("take", 0, "app");
	uint32_t sleeps = address("futex_wait", NAMES_FRAME_KERNEL, "[kernel]");
	uint32_t blocked = address("[blocked]", NAMES_FRAME_BLOCKED, "");
	uint32_t asleep = address(off_cpu_leaf_name(OFF_CPU_LEAF_ASLEEP), NAMES_FRAME_BLOCKED, "");
	const uint32_t user[] = { take, main_of };

	count(300, "app", 7, user, 2, (uint32_t[]){ blocked, sleeps }, 2);
	count(1000, "app", 7, user, 2, (uint32_t[]){ asleep, sleeps }, 2);
	count(1000, "idle", 9, user + 1, 1, (uint32_t[]){ asleep, sleeps }, 2);
	write_page(&html_writer, "sleepers", false, false, NULL);
	tally_free(tally);
}

static void kinds(void)
{
	uint32_t user[128], n = 0;
	uint32_t kernel = address("vfs_read", NAMES_FRAME_KERNEL, "[kernel]");
	uint32_t again = address("again", 0, "app");

	while (n < 100)
		user[n++] = again;
	user[n++] = address("small", NAMES_FRAME_INLINED, "app");
	user[n++] = address("made::at_run_time", NAMES_FRAME_JIT, "perf-7.map");
	user[n++] = address("[jit]", NAMES_FRAME_JIT, "");
	user[n++] = address("ns::templated<int>(char)", 0, "libcpp.so");
	user[n++] = address("plain", 0, "app");
	user[n++] = address("[unwind: no row]", NAMES_FRAME_UNWIND, "libodd.so");
	count(600, "app", 7, user, n, NULL, 0);
	count(400, "app", 7, user + n - 2, 2, &kernel, 1);
	write_page(&svg_writer, "kinds", false, false, NULL);
	write_page(&html_writer, "kinds", false, false, NULL);
	tally_free(tally);
}

static uint32_t chance(uint64_t *state, uint32_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)((*state >> 32) * below >> 32);
}

/* Pieces of names that became markup or script in other programs' reports. */
static const char *const pieces[] = {
	"<script>pwned()</script>",
	"</script><script>pwned()//",
	"]]>",
	"<![CDATA[",
	"-->",
	"<!--",
	"\" onload=\"pwned()",
	"' onmouseover='pwned()",
	"<img src=x onerror=pwned()>",
	"</title>",
	"<svg onload=pwned()>",
	"&lt;script&gt;",
	"&#x3c;",
	"&",
	"\xe2\x80\xa8",
	"\xe2\x80\xa9",
	"\xff\xfe",
	"\xc3",
	"\xef\xbf\xbf",
	"\xe2\x80\xae",
	"\n",
	"\r",
	"\t",
	"\x01",
	"\x1b[31m",
	"\x7f",
	"`${pwned()}`",
	"\\u003cscript\\u003e",
	"javascript:pwned()",
	"</style>",
	"</g>",
	"%3Cscript%3E",
	"\xf0\x9f\x94\xa5",
	"\xed\xa0\x80",
	"{{pwned()}}",
	"';pwned();'",
	"=1+1",
	"</text>",
	"</body>",
	"<?xml",
	"<!ENTITY x SYSTEM 'file:///etc/passwd'>",
	"&x;",
	" ",
	"a",
};

static void hostile(void)
{
	uint64_t state = 88172645463325252u;
	own(own_flame_frames_free) struct flame_frames *frames = NULL;
	char path[4096];
	FILE *list;

	snprintf(path, sizeof(path), "%s/hostile.names", directory);
	list = fopen(path, "we");
	if (!list || flame_frames_new(&frames) < 0)
		fail(path);
	for (uint32_t i = 0; i < 400; i++) {
		uint32_t n = sizeof(pieces) / sizeof(pieces[0]), stack[2], number;
		struct flame_frame frame = { .kind = FLAME_USER };
		char name[1024] = "", comm[16] = "";

		if (i < n)
			strcpy(name, pieces[i]);
		for (uint32_t at = 0, size = 1 + chance(&state, 6); i >= n && at < size; at++)
			strcat(name, pieces[chance(&state, n)]);
		stack[0] =
			address(name, chance(&state, 2) ? NAMES_FRAME_INLINED : 0, pieces[i % n]);
		stack[1] = i ? stack[0] - 1 : stack[0];
		strncpy(comm, pieces[i % n], sizeof(comm) - 1);
		count(100 + i, comm, i % 40, stack, 2, NULL, 0);
		frame.name = name;
		frame.module = "";
		if (flame_frames_add(frames, &frame, &number) < 0)
			fail("out of memory");
	}
	for (uint32_t i = 0; i < flame_frames_n(frames); i++)
		fprintf(list, "%s\n", flame_frames_get(frames, i)->name);
	if (fclose(list) != 0)
		fail(path);
	write_page(&svg_writer, "hostile", false, false, NULL);
	write_page(&html_writer, "hostile", false, false, NULL);
}

/* Half of the samples have few call paths; each of the others is unique from some depth on. */
static void many(void)
{
	static uint32_t functions[1000];
	uint32_t leaf = address("leaf", 0, "app");
	uint64_t state = 88172645463325252u;

	for (uint32_t i = 0; i < 1000; i++) {
		char name[40];

		snprintf(name, sizeof(name), "inner_%u", i);
		functions[i] = address(name, 0, "app");
	}
	for (uint32_t i = 0; i < 50000; i++) {
		uint32_t stack[12], common = chance(&state, 6);

		stack[0] = leaf;
		for (uint32_t depth = 0; depth < 11; depth++)
			stack[11 - depth] = functions[depth < common ? depth * 3 + chance(&state, 3)
								     : chance(&state, 1000)];
		count(1, "many", 7, stack, 12, NULL, 0);
		count(1, "many", 7, (uint32_t[]){ leaf, functions[0] }, 2, NULL, 0);
	}
	write_page(&svg_writer, "many", false, false, NULL);
	tally_free(tally);
}

#define N_STACKS    1000000u
#define N_FUNCTIONS 20000u

/*
 * Every function calls a few others, one of them more often than the rest, and a stack may end at
 * any depth: many samples near the root, and most stacks occur once.
 */
static void million(void)
{
	static uint32_t functions[N_FUNCTIONS];
	uint64_t state = 88172645463325252u;

	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		char name[80], module[40];

		snprintf(name, sizeof(name), i % 3 ? "part_%u_run" : "part_%u::run(char const*)",
			 i);
		snprintf(module, sizeof(module), "library%u.so", i % 40);
		functions[i] = address(name, 0, module);
	}
	while (tally_n_stacks(tally) < N_STACKS) {
		uint32_t depth = 8 + chance(&state, 40), at = chance(&state, 5), stack[48];
		char comm[16];

		snprintf(comm, sizeof(comm), "worker-%u", at);
		for (uint32_t i = 0; i < depth; i++) {
			uint32_t way = chance(&state, 10);

			stack[depth - 1 - i] = functions[at];
			at = (uint32_t)((at * 5ull + (way < 6 ? 1 : way)) * 2654435761u %
					N_FUNCTIONS);
		}
		count(1, comm, 1000 + at % 3, stack, depth, NULL, 0);
	}
	write_page(&html_writer, "million", false, false, NULL);
	tally_free(tally);
}

static void anew(void)
{
	names_free(names);
	names = NULL;
	if (tally_new(0, 0, &tally) < 0 || names_new(&names) < 0)
		fail("out of memory");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		fail("usage: make_pages DIR");
	directory = argv[1];
	anew();
	known(true);
	anew();
	kinds();
	anew();
	groups();
	anew();
	waits();
	anew();
	sleepers();
	anew();
	many();
	anew();
	million();
	anew();
	hostile();
	tally_free(tally);
	names_free(names);
	return 0;
}
