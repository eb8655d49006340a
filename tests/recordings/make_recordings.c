// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the recordings of tests/golden/recordings from content written down here:
 *
 *	make_recordings DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "recording/recording.h"
#include "tally/scripts.h"

struct scene {
	struct tally *tally;
	struct names *names;
	struct profile_meta meta;
	struct timeline timeline;
};

#define KERNEL	  NAMES_FRAME_KERNEL
#define INLINED	  NAMES_FRAME_INLINED
#define JIT	  NAMES_FRAME_JIT
#define NO_SYMBOL NAMES_FRAME_IDENTITY

static void fail(const char *what)
{
	fprintf(stderr, "make_recordings: %s\n", what);
	exit(1);
}

static const char *string(struct scene *scene, const char *text)
{
	const char *copy = text ? names_string(scene->names, text) : NULL;

	if (text && !copy)
		fail("out of memory");
	return copy;
}

/* The names of one address: up to two frames, the inlined one first. */
struct spot {
	uint64_t address;
	uint32_t image;
	const char *name, *module;
	uint64_t offset;
	uint32_t flags;
	const char *inlined; /* a function inlined there, or NULL */
	const char *file;
	uint32_t line;
	uint32_t address_flags; /* enum tally_address_flags */
	uint8_t language;
};

/* The files that code was mapped from, by the module that frames show. */
static const struct {
	const char *module;
	struct names_object object;
} mapped[] = {
	{ "spin",
	  { .path = "/usr/local/bin/spin",
	    .start = 0x562f48dba000,
	    .end = 0x562f48dbb000,
	    .offset = 0x1000,
	    .build_id_size = 4,
	    .build_id = { 0xde, 0xad, 0xbe, 0xef } } },
	{ "libc.so.6",
	  { .path = "/usr/lib/libc.so.6",
	    .start = 0x7f6616caf000,
	    .end = 0x7f6616e03000,
	    .offset = 0x26000,
	    .build_id_size = 20,
	    .build_id = { 0x93, 0xd1, 0x55 } } },
	{ "[kernel]",
	  { .path = "[kernel.kallsyms]",
	    .start = 0xffffffff81000000,
	    .end = 0xffffffff82000000,
	    .build_id_size = 20,
	    .build_id = { 0x01, 0x02, 0x03 } } },
	{ "evil\n.so",
	  { .path = "/tmp/evil \"\n\xff.so", .start = 0x7f2200003000, .end = 0x7f2200004000 } },
};

static uint32_t object_of(struct scene *scene, const char *module)
{
	const struct names_object *objects = names_objects(scene->names);
	struct names_object object;
	uint32_t i = 0, index;

	while (i < sizeof(mapped) / sizeof(mapped[0]) &&
	       (!module || strcmp(mapped[i].module, module) != 0))
		i++;
	if (i == sizeof(mapped) / sizeof(mapped[0]))
		return NAMES_NONE;
	object = mapped[i].object;
	for (index = 0; index < names_n_objects(scene->names); index++)
		if (strcmp(objects[index].path, object.path) == 0)
			return index;
	object.path = string(scene, object.path);
	if (names_add_object(scene->names, &object, &index) < 0)
		fail("cannot add an object");
	return index;
}

static uint32_t address_of(struct scene *scene, const struct spot *spot)
{
	struct tally_address address = { .address = spot->address,
					 .image = spot->image,
					 .flags = spot->address_flags };
	struct names_frame frames[2] = { 0 };
	uint32_t id, n = 0;

	if (tally_address(scene->tally, &address, &id) < 0)
		fail("cannot add an address");
	if (id < names_n_addresses(scene->names))
		return id;
	if (spot->inlined)
		frames[n++] = (struct names_frame){ .name = string(scene, spot->inlined),
						    .module = string(scene, spot->module),
						    .file = string(scene, "src/inner.h"),
						    .line = 7,
						    .object = object_of(scene, spot->module),
						    .flags = (uint16_t)(spot->flags | INLINED) };
	frames[n++] = (struct names_frame){ .name = string(scene, spot->name),
					    .module = string(scene, spot->module),
					    .file = string(scene, spot->file),
					    .line = spot->line,
					    .offset = spot->offset,
					    .object = object_of(scene, spot->module),
					    .flags = (uint16_t)spot->flags,
					    .language = spot->language };
	if (names_add_address(scene->names, frames, n) < 0)
		fail("cannot name an address");
	return id;
}

/* A stack of spots, leaf first, that ends with NULL. */
static uint32_t stack_of(struct scene *scene, uint32_t flags, const struct spot *const *spots)
{
	uint32_t frames[TALLY_MAX_FRAMES], n = 0, id;

	for (; spots[n]; n++)
		frames[n] = address_of(scene, spots[n]);
	if (tally_stack(scene->tally, frames, n, flags, &id) < 0)
		fail("cannot add a stack");
	return id;
}

#define STACK(scene, ...) stack_of((scene), 0, (const struct spot *const[]){ __VA_ARGS__, NULL })
#define CUT_STACK(scene, ...)                                                                      \
	stack_of((scene), TALLY_STACK_CUT, (const struct spot *const[]){ __VA_ARGS__, NULL })
#define NONE   TALLY_STACK_NONE
#define MISSED TALLY_STACK_MISSED

static void sum(struct scene *scene, uint64_t n, uint64_t events, const char *comm, uint32_t tgid,
		uint32_t tid, uint64_t cgroup, uint32_t kernel, uint32_t user)
{
	struct tally_entry entry = { .count = n,
				     .events = events,
				     .tgid = tgid,
				     .tid = tid,
				     .cgroup = cgroup,
				     .kernel = kernel,
				     .user = user };

	memcpy(entry.comm, comm, strnlen(comm, sizeof(entry.comm) - 1));
	if (tally_add(scene->tally, &entry) < 0)
		fail("cannot count");
	tally_losses(scene->tally)->events += events ? events : n;
}

static void count(struct scene *scene, uint64_t n, const char *comm, uint32_t tgid, uint32_t tid,
		  uint64_t cgroup, uint32_t kernel, uint32_t user)
{
	sum(scene, n, 0, comm, tgid, tid, cgroup, kernel, user);
}

static const struct spot vfs_read = {
	0xffffffff813669e1, 0, "vfs_read", "[kernel]", 0x1, KERNEL, NULL, NULL, 0
};
static const struct spot sys_pread = {
	0xffffffff813678f4, 0, "__x64_sys_pread64", "[kernel]", 0x94, KERNEL, NULL, NULL, 0
};
static const struct spot syscall_64 = {
	0xffffffff81a43e1d, 0, "do_syscall_64", "[kernel]", 0x5d, KERNEL, NULL, NULL, 0
};
static const struct spot ext4_write = {
	0xffffffffc0123456, 0, "ext4_writepages", "[ext4]", 0x1b6, KERNEL, NULL, NULL, 0
};
static const struct spot kthread = {
	0xffffffff810bb0e7, 0, "kthread", "[kernel]", 0xd7, KERNEL, NULL, NULL, 0
};
static const struct spot idle = {
	0xffffffff81c0d0ab, 0, "cpu_idle_poll", "[kernel]", 0xb, KERNEL, NULL, NULL, 0
};
static const struct spot libc_pread = { 0x7f6616d7e3d3, 1,    "pread64", "libc.so.6", 0x13, 0,
					NULL,		NULL, 0 };
static const struct spot main_a = { 0x562f48dba391, 1, "main", "spin", 0x81, 0, NULL,
				    "src/spin.c",   30 };
static const struct spot main_b = { 0x562f48dba3a0, 1, "main", "spin", 0x90, 0, NULL,
				    "src/spin.c",   33 };
static const struct spot libc_start = { 0x7f6616caf24a, 1,    "__libc_start_call_main",
					"libc.so.6",	0x7a, 0,
					NULL,		NULL, 0 };
static const struct spot cpp = { 0x562f48dba500,
				 1,
				 "std::vector<int, std::allocator<int> >::push_back(int&&)",
				 "spin",
				 0x10,
				 0,
				 "operator new",
				 "src/vector.cc",
				 12 };
static const struct spot vdso = { 0x7ffd12345a00, 1,	"__vdso_clock_gettime",
				  "[vdso]",	  0x20, 0,
				  NULL,		  NULL, 0 };
static const struct spot in_file = { 0x7f6616d00000, 1, NULL, "libfoo.so", 0, 0, NULL, NULL, 0 };
static const struct spot nowhere = { 0xdead, 1, NULL, NULL, 0, 0, NULL, NULL, 0 };
static const struct spot java = {
	0x7f2200001000, 2, "Lio/netty/util/Watcher;::run", "perf-4996.map", 0x44, JIT, NULL, NULL, 0
};
static const struct spot generated = { 0x7f2200002000, 2, NULL, NULL, 0, JIT, NULL, NULL, 0 };
static const struct spot evil = { 0x7f2200003000, 2,	"bad\nname 999\x1b[31m\x7f",
				  "evil\n.so",	  0x4,	0,
				  NULL,		  NULL, 0 };

static void profile_scene(struct scene *scene)
{
	uint32_t read = STACK(scene, &vfs_read, &sys_pread, &syscall_64);
	uint32_t user_a = STACK(scene, &libc_pread, &main_a, &libc_start);
	uint32_t user_b = STACK(scene, &libc_pread, &main_b, &libc_start);

	scene->meta = (struct profile_meta){
		.command = "profile",
		.command_line = "profile --name 'my \"app\"' 5",
		.title = "Sampling at 49 Hertz of all threads by user + kernel stack for 5 secs.",
		.event = "cpu-clock",
		.frequency = 49,
		.start_time_ns = 1700000000000000000u,
		.duration_ns = 5000000000u,
		.stack_storage = 8,
		.hostname = "host",
		.kernel_release = "6.1.0",
		.scope = "all threads",
		.user = true,
		.kernel = true,
		.has = { .processes = true, .idle = true, .inlines = true, .lines = true },
	};
	count(scene, 7, "spin", 99, 0, 0, read, user_a);
	count(scene, 5, "spin", 99, 0, 0, read, user_b); /* the same names, other addresses */
	count(scene, 23, "spin", 99, 0, 0, NONE, STACK(scene, &cpp, &main_a, &libc_start));
	count(scene, 3, "kworker/0:1", 41, 0, 0, STACK(scene, &ext4_write, &kthread), NONE);
	count(scene, 40, "swapper/6", 0, 0, 0, STACK(scene, &idle), NONE);
	count(scene, 1, "my app", 300, 0, 0, NONE, STACK(scene, &in_file, &nowhere));
	count(scene, 2, "my app", 300, 0, 0, NONE, STACK(scene, &vdso, &main_a));
	count(scene, 4, "java", 4996, 0, 0, NONE, STACK(scene, &java, &generated));
	count(scene, 6, "dd", 500, 0, 0, MISSED, MISSED);
	count(scene, 8, "dd", 500, 0, 0, read, MISSED);
	count(scene, 9, "deep", 600, 0, 0, NONE, CUT_STACK(scene, &main_a, &main_a, &main_a));
	count(scene, 2, "nothing", 700, 0, 0, NONE, NONE);
	count(scene, 11, "a;b\n 5\x01", 800, 0, 0, NONE, STACK(scene, &evil));
	tally_losses(scene->tally)->counts_full = true;
}

/* Nanoseconds off the CPU, with leaves that say what threads waited for. */
static void off_cpu_scene(struct scene *scene)
{
	const struct spot blocked = { .address = off_cpu_leaf_address(OFF_CPU_LEAF_BLOCKED),
				      .name = off_cpu_leaf_name(OFF_CPU_LEAF_BLOCKED),
				      .flags = NAMES_FRAME_BLOCKED,
				      .address_flags = TALLY_ADDRESS_SCRIPT };
	const struct spot waiting = { .address = off_cpu_leaf_address(OFF_CPU_LEAF_WAITING),
				      .name = off_cpu_leaf_name(OFF_CPU_LEAF_WAITING),
				      .flags = NAMES_FRAME_WAITING,
				      .address_flags = TALLY_ADDRESS_SCRIPT };
	const struct spot asleep = { .address = off_cpu_leaf_address(OFF_CPU_LEAF_ASLEEP),
				     .name = off_cpu_leaf_name(OFF_CPU_LEAF_ASLEEP),
				     .flags = NAMES_FRAME_BLOCKED,
				     .address_flags = TALLY_ADDRESS_SCRIPT };
	uint32_t user = STACK(scene, &libc_pread, &main_a, &libc_start);
	uint32_t preempted = STACK(scene, &main_b, &libc_start);

	scene->meta = (struct profile_meta){
		.command = "profile",
		.command_line = "profile --off-cpu 5",
		.title =
			"Measuring time off the CPU (us) of all threads by user + kernel stack for "
			"5 secs.",
		.event = "off-cpu",
		.start_time_ns = 1700000000000000000u,
		.duration_ns = 5000000000u,
		.hostname = "host",
		.kernel_release = "6.1.0",
		.scope = "all threads",
		.user = true,
		.kernel = true,
		.timed = true,
		.has = { .processes = true },
	};
	count(scene, 1500000499, "spin", 99, 0, 0,
	      STACK(scene, &blocked, &vfs_read, &sys_pread, &syscall_64), user);
	count(scene, 20499500, "spin", 99, 0, 0,
	      STACK(scene, &waiting, &vfs_read, &sys_pread, &syscall_64), user);
	count(scene, 7000, "spin", 99, 0, 0, STACK(scene, &waiting, &syscall_64), preempted);
	count(scene, 5000000000, "kworker/0:1", 41, 0, 0, STACK(scene, &asleep), NONE);
	*tally_losses(scene->tally) = (struct tally_losses){
		.events = 12, .lost_time = 1234567, .lost_threads = 2, .lost_ends = 1
	};
}

/* The same beside samples, with the stacks that ended the waits. */
static void wall_scene(struct scene *scene)
{
	const struct spot blocked = { .address = off_cpu_leaf_address(OFF_CPU_LEAF_BLOCKED),
				      .name = off_cpu_leaf_name(OFF_CPU_LEAF_BLOCKED),
				      .flags = NAMES_FRAME_BLOCKED,
				      .address_flags = TALLY_ADDRESS_SCRIPT };
	const struct spot woken = { .address = off_cpu_leaf_address(OFF_CPU_LEAF_WOKEN),
				    .name = off_cpu_leaf_name(OFF_CPU_LEAF_WOKEN),
				    .address_flags = TALLY_ADDRESS_SCRIPT };
	const struct spot timer = { .address = off_cpu_leaf_address(OFF_CPU_WAKER_TIMER),
				    .name = off_cpu_leaf_name(OFF_CPU_WAKER_TIMER),
				    .address_flags = TALLY_ADDRESS_SCRIPT };
	const struct spot task = { .address = (uint64_t)SCRIPT_WAKER << SCRIPT_LANGUAGE_SHIFT | 999,
				   .name = "waker",
				   .address_flags = TALLY_ADDRESS_SCRIPT };
	uint32_t user = STACK(scene, &libc_pread, &main_a, &libc_start);

	scene->meta = (struct profile_meta){
		.command = "profile",
		.command_line = "profile --wall --wakers 2",
		.title = "Measuring time on and off the CPU (us) of all threads by user + kernel "
			 "stack for 2 secs.",
		.event = "wall",
		.frequency = 49,
		.start_time_ns = 1700000000000000000u,
		.duration_ns = 2000000000u,
		.scope = "all threads",
		.user = true,
		.kernel = true,
		.timed = true,
		.wall = true,
		.has = { .processes = true },
	};
	count(scene, 204081632, "spin", 99, 0, 0, NONE, STACK(scene, &main_b, &libc_start));
	count(scene, 1500000000, "spin", 99, 0, 0,
	      STACK(scene, &task, &libc_start, &main_a, &syscall_64, &sys_pread, &woken, &blocked,
		    &vfs_read, &sys_pread, &syscall_64),
	      user);
	count(scene, 295918368, "spin", 99, 0, 0,
	      STACK(scene, &timer, &syscall_64, &woken, &blocked, &vfs_read, &sys_pread,
		    &syscall_64),
	      user);
	*tally_losses(scene->tally) = (struct tally_losses){ .events = 12, .unwalked = 36 };
}

/* A part of the profile, for twice as long and twice as often. */
static void base_scene(struct scene *scene)
{
	uint32_t read = STACK(scene, &vfs_read, &sys_pread, &syscall_64);
	uint32_t user = STACK(scene, &libc_pread, &main_a, &libc_start);

	scene->meta = (struct profile_meta){ .command = "profile",
					     .event = "cpu-clock",
					     .frequency = 98,
					     .start_time_ns = 1600000000000000000u,
					     .duration_ns = 10000000000u,
					     .scope = "PID 99",
					     .user = true,
					     .kernel = true,
					     .has = { .processes = true, .idle = true } };
	count(scene, 48, "spin", 99, 0, 0, read, user);
	count(scene, 46, "spin", 99, 0, 0, NONE, STACK(scene, &cpp, &main_a, &libc_start));
}

/* Two workers of one process, one of another; two cgroups, one of them without a known path. */
static void threads_scene(struct scene *scene)
{
	uint32_t user = STACK(scene, &main_a, &libc_start);
	uint32_t read = STACK(scene, &vfs_read, &syscall_64);

	scene->meta = (struct profile_meta){
		.command = "profile",
		.event = "cycles",
		.period = 1000000,
		.scope = "'workers'",
		.filter = "CPU 3",
		.user = true,
		.kernel = true,
		.has = { .processes = true, .threads = true, .cgroups = true }
	};
	count(scene, 10, "worker", 50, 51, 77, NONE, user);
	count(scene, 20, "worker", 50, 52, 77, NONE, user);
	count(scene, 30, "worker", 60, 60, 78, read, user);
	count(scene, 5, "worker", 60, 60, 0, read, user);
	if (names_add_cgroup(scene->names,
			     &(struct names_cgroup){ .id = 77,
						     .path = "/system.slice/worker.service" }) < 0)
		fail("cannot name a cgroup");
	if (names_add_process(scene->names, &(struct names_process){ 50, "spooler" }) < 0)
		fail("cannot name a process");
}

static void stackcount_scene(struct scene *scene)
{
	uint32_t kernel = STACK(scene, &vfs_read, &sys_pread, &syscall_64);
	struct spot main_tar = main_a, pread_tar = libc_pread;

	/* The same program at other addresses, in a process of its own. */
	main_tar.image = pread_tar.image = 3;
	main_tar.address = 0x55dd00000391;
	pread_tar.address = 0x7f919c5a26e0;
	scene->meta = (struct profile_meta){
		.command = "stackcount",
		.command_line = "stackcount vfs_read",
		.title = "Tracing 1 functions for \"vfs_read\"... Hit Ctrl-C to end.",
		.event = "vfs_read",
		.period = 1,
		.scope = "all threads",
		.user = true,
		.kernel = true,
		.has = { .processes = true, .idle = true },
	};
	count(scene, 5, "tar", 15069, 0, 0, kernel, STACK(scene, &libc_pread, &main_a));
	count(scene, 8, "tar", 15187, 0, 0, kernel, STACK(scene, &pread_tar, &main_tar));
	count(scene, 2, "jbd2/xvda1-8", 405, 0, 0, STACK(scene, &ext4_write, &kthread), NONE);
	count(scene, 30, "dd", 507, 0, 0, kernel, MISSED);
	count(scene, 1, "dd", 507, 0, 0, NONE, STACK(scene, &in_file, &nowhere));
	tally_losses(scene->tally)->unseen = 110;
}

/* Bytes, with the number of events that they are of. */
static void sums_scene(struct scene *scene)
{
	uint32_t kernel = STACK(scene, &vfs_read, &sys_pread, &syscall_64);

	scene->meta = (struct profile_meta){
		.command = "stackcount",
		.command_line = "stackcount --sum count --if 'count > 0' vfs_read",
		.title = "Summing count of 1 functions for \"vfs_read\"... Hit Ctrl-C to end.",
		.event = "vfs_read",
		.period = 1,
		.duration_ns = 2000000000u,
		.scope = "all threads",
		.filter = "count > 0",
		.user = true,
		.kernel = true,
		.summed = true,
		.measure = "count",
		.unit = "bytes",
		.has = { .processes = true, .idle = true },
	};
	sum(scene, 1234567890, 301408, "tar", 15069, 0, 0, kernel,
	    STACK(scene, &libc_pread, &main_a));
	sum(scene, 4096, 1, "tar", 15187, 0, 0, kernel, STACK(scene, &libc_pread, &main_b));
	sum(scene, 0, 7, "dd", 507, 0, 0, kernel, STACK(scene, &cpp, &main_b));
	tally_losses(scene->tally)->failed = 6;
	tally_losses(scene->tally)->unread = 2;
}

static void timed(struct scene *scene, const struct tally_entry *entry)
{
	if (tally_add(scene->tally, entry) < 0)
		fail("cannot count");
	tally_losses(scene->tally)->events += entry->events;
}

/* Times of calls, some of which were not seen whole. */
static void calls_scene(struct scene *scene)
{
	scene->meta = (struct profile_meta){
		.command = "stackcount",
		.command_line = "stackcount --time vfs_read",
		.title = "Tracing 1 functions for \"vfs_read\", timing calls... Hit "
			 "Ctrl-C to end.",
		.event = "vfs_read",
		.period = 1,
		.duration_ns = 2000000000u,
		.scope = "all threads",
		.user = true,
		.kernel = true,
		.summed = true,
		.measure = "time",
		.unit = "nanoseconds",
		.has = { .processes = true, .idle = true },
	};
	timed(scene, &(struct tally_entry){ .count = 1234567890,
					    .events = 301408,
					    .largest = 40960123,
					    .tgid = 15069,
					    .kernel = STACK(scene, &vfs_read, &sys_pread),
					    .user = STACK(scene, &libc_pread, &main_a),
					    .comm = "tar" });
	timed(scene, &(struct tally_entry){ .count = 4096,
					    .events = 1,
					    .largest = 4096,
					    .tgid = 15187,
					    .kernel = STACK(scene, &vfs_read, &sys_pread),
					    .user = STACK(scene, &libc_pread, &main_b),
					    .comm = "tar" });
	tally_losses(scene->tally)->unreturned = 3;
	tally_losses(scene->tally)->unentered = 1;
	tally_losses(scene->tally)->lost_calls = 12;
	tally_losses(scene->tally)->lost_values = 2;
}

/* Memory that is not freed. */
static void outstanding_scene(struct scene *scene)
{
	scene->meta = (struct profile_meta){
		.command = "stackcount",
		.command_line = "stackcount --leaks -p 15069",
		.title = "Tracing 12 functions for \"c:malloc\", adding up what is not freed... "
			 "Hit Ctrl-C to end.",
		.event = "c:malloc",
		.period = 1,
		.duration_ns = 2000000000u,
		.scope = "PID 15069",
		.user = true,
		.summed = true,
		.measure = "outstanding",
		.unit = "bytes",
		.has = { .processes = true },
	};
	timed(scene, &(struct tally_entry){ .count = 10000,
					    .events = 100,
					    .largest = 100,
					    .tgid = 15069,
					    .kernel = NONE,
					    .user = STACK(scene, &libc_pread, &main_a),
					    .comm = "tar" });
	tally_losses(scene->tally)->unallocated = 9;
	tally_losses(scene->tally)->lost_blocks = 3;
	tally_losses(scene->tally)->lost_bytes = 4096;
}

/* A function of each language. */
static void languages_scene(struct scene *scene)
{
	static const char *const names[N_LANGUAGES] = {
		[LANGUAGE_PYTHON] = "main (app.py)",	 [LANGUAGE_PHP] = "App::main (app.php)",
		[LANGUAGE_PERL] = "main::main (app.pl)", [LANGUAGE_RUBY] = "Object#main (app.rb)",
		[LANGUAGE_JAVASCRIPT] = "main (app.js)",
	};

	scene->meta = (struct profile_meta){ .command = "profile",
					     .event = "cpu-clock",
					     .frequency = 49,
					     .scope = "all threads",
					     .user = true,
					     .kernel = true,
					     .has = { .processes = true } };
	for (uint32_t i = LANGUAGE_PYTHON; i <= LANGUAGE_JAVASCRIPT; i++) {
		const struct spot function = { .address =
						       (uint64_t)i << SCRIPT_LANGUAGE_SHIFT | 999,
					       .name = names[i],
					       .file = "/srv/app",
					       .language = (uint8_t)i,
					       .address_flags = TALLY_ADDRESS_SCRIPT };

		count(scene, 10 + i, "app", 100 + i, 0, 0, NONE,
		      STACK(scene, &libc_pread, &function, &libc_start));
	}
}

/* Functions without a symbol, two of them in each of two places. */
static void stripped_scene(struct scene *scene)
{
	static const struct spot inner = { 0x562f48dba291, 1,	 "[spin+0x1280]",
					   "spin",	   0x11, NO_SYMBOL,
					   NULL,	   NULL, 0 };
	static const struct spot inner_b = { 0x562f48dba2a0, 1,	   "[spin+0x1280]",
					     "spin",	     0x20, NO_SYMBOL,
					     NULL,	     NULL, 0 };
	static const struct spot outer = { 0x562f48dba2c4, 1,	 "[spin+0x12c0]",
					   "spin",	   0x4,	 NO_SYMBOL,
					   NULL,	   NULL, 0 };
	static const struct spot file_only = { 0x7f6616d00000, 1,    "[libc.so.6]",
					       "libc.so.6",    0,    NO_SYMBOL,
					       NULL,	       NULL, 0 };

	scene->meta = (struct profile_meta){ .command = "profile",
					     .title = "Sampling at 49 Hertz of all threads by user "
						      "+ kernel stack for 1 secs.",
					     .event = "cpu-clock",
					     .frequency = 49,
					     .start_time_ns = 1700000000000000000u,
					     .duration_ns = 1000000000u,
					     .user = true,
					     .has = { .processes = true } };
	count(scene, 5, "spin", 99, 0, 0, NONE, STACK(scene, &inner, &outer, &libc_start));
	count(scene, 3, "spin", 99, 0, 0, NONE, STACK(scene, &inner_b, &outer, &libc_start));
	count(scene, 2, "spin", 99, 0, 0, NONE, STACK(scene, &file_only, &inner, &libc_start));
	count(scene, 1, "spin", 99, 0, 0, NONE, STACK(scene, &nowhere, &outer, &libc_start));
}

#define TIMES_BIN_NS 20000000ull

/* Three seconds of two phases, which change in the middle of the second one; then 2 s of nothing.
 */
static void times_scene(struct scene *scene)
{
	const uint32_t first = STACK(scene, &libc_pread, &main_a, &libc_start);
	const uint32_t second = STACK(scene, &main_b, &libc_start);
	static const uint64_t counts[][2] = { { 50, 0 }, { 25, 25 }, { 0, 50 } };

	scene->meta = (struct profile_meta){ .command = "profile",
					     .title = "Sampling at 50 Hertz of PID [99] by user "
						      "stack for 5 secs.",
					     .event = "cpu-clock",
					     .frequency = 50,
					     .start_time_ns = 1700000000000000000u,
					     .duration_ns = 5000000000u,
					     .scope = string(scene, "PID 99"),
					     .user = true,
					     .has = { .processes = true } };
	scene->timeline =
		(struct timeline){ .width_ns = 1000000000u,
				   .most_rows = TIMELINE_ROWS,
				   .bins = { .width_ns = TIMES_BIN_NS, .most = BINS_MOST } };
	for (uint64_t i = 0; i < 3; i++) {
		if (counts[i][0])
			count(scene, counts[i][0], "phases", 99, 0, 0, NONE, first);
		if (counts[i][1])
			count(scene, counts[i][1], "phases", 99, 0, 0, NONE, second);
		timeline_note(&scene->timeline, scene->tally, (i + 1) * 1000000000u);
	}
	for (uint64_t i = 0; i < 150; i++)
		if (bins_add(&scene->timeline.bins, i * TIMES_BIN_NS, 1) < 0)
			fail("out of memory");
}

static void empty_scene(struct scene *scene)
{
	scene->meta = (struct profile_meta){ .command = "profile", .has = { .processes = true } };
}

DEFINE_OWN(struct tally, tally_free)
DEFINE_OWN(struct names, names_free)

static void make(const char *directory, const char *name, void (*fill)(struct scene *scene))
{
	own(own_tally_free) struct tally *tally = NULL;
	own(own_names_free) struct names *names = NULL;
	own(own_file) FILE *out = NULL;
	struct error err = { 0 };
	struct scene scene;
	char path[4096];

	if (tally_new(0, 0, &tally) < 0 || names_new(&names) < 0)
		fail("out of memory");
	scene = (struct scene){ .tally = tally, .names = names };
	fill(&scene);
	snprintf(path, sizeof(path), "%s/%s.stacktally", directory, name);
	out = fopen(path, "we");
	if (!out)
		fail(path);
	if (recording_save(out, &scene.meta, tally, names, &scene.timeline, &err) < 0 ||
	    fflush(out) != 0)
		fail(err.text);
	timeline_clear(&scene.timeline);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_recordings DIRECTORY\n");
		return 2;
	}
	make(argv[1], "profile", profile_scene);
	make(argv[1], "base", base_scene);
	make(argv[1], "threads", threads_scene);
	make(argv[1], "stackcount", stackcount_scene);
	make(argv[1], "stripped", stripped_scene);
	make(argv[1], "languages", languages_scene);
	make(argv[1], "empty", empty_scene);
	make(argv[1], "off-cpu", off_cpu_scene);
	make(argv[1], "wall", wall_scene);
	make(argv[1], "sums", sums_scene);
	make(argv[1], "times", times_scene);
	make(argv[1], "calls", calls_scene);
	make(argv[1], "outstanding", outstanding_scene);
	return 0;
}
