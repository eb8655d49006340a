// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/interpreted.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "base/thread.h"
#include "interpreted.skel.h"
#include "loader/kernel_side_internal.h"
#include "stacktally.skel.h"

#define SAME_PLACE(member)                                                                         \
	_Static_assert(offsetof(__typeof__(*((struct stacktally *)0)->bss), member) ==             \
			       offsetof(__typeof__(*((struct interpreted *)0)->bss), member),      \
		       "both objects use the variables of one map")

SAME_PLACE(armed);
SAME_PLACE(epoch);
SAME_PLACE(orc);
SAME_PLACE(unwind_changes);
SAME_PLACE(off_cpu_began);
SAME_PLACE(switch_learned);

struct interpreted_load {
	struct interpreted *skeleton;
	struct kernel_btf btf;
	const struct kernel_side *side;
	pthread_t thread;
	_Atomic bool over;
	int r; /* of the thread, and its error */
	struct error err;
};

static void load_free(struct interpreted_load *load)
{
	if (!load)
		return;
	interpreted__destroy(load->skeleton);
	kernel_btf_close(&load->btf);
	free(load);
	malloc_trim(0); /* libbpf takes some MB to load it */
}

DEFINE_OWN(struct interpreted_load, load_free)

/* The map of the loaded object that the other one uses, too. */
static const struct bpf_map *same_map(const struct interpreted *to, const struct bpf_map *map,
				      const struct stacktally *from)
{
	/* The names of variables' maps contain those of their objects. */
	if (map == to->maps.bss)
		return from->maps.bss;
	/* libbpf calls maps that the user has pinned as they were called when they were made. */
	if (map == to->maps.cgroupmap)
		return from->maps.cgroupmap;
	if (map == to->maps.mntnsmap)
		return from->maps.mntnsmap;
	return bpf_object__find_map_by_name(from->obj, bpf_map__name(map));
}

/* Whether a map is not shared: constants, the names that were sent, and caches. */
static bool is_own(const struct interpreted *to, const struct bpf_map *map)
{
	return map == to->maps.sent_scripts || map == to->maps.java_places ||
	       (bpf_map__is_internal(map) && map != to->maps.bss);
}

/* Has the object use a map of the loaded one, which may be without it in this measurement. */
static int share_map(struct interpreted *to, struct bpf_map *map, const struct kernel_side *side,
		     struct error *err)
{
	const struct bpf_map *same = same_map(to, map, side->skeleton);
	int fd, r;

	if (!same && map != to->maps.interpreters && map != to->maps.java_processes)
		return error_set(err, -ENOENT, "this build's BPF object has no map %s",
				 bpf_map__name(map));
	fd = same			    ? bpf_map__fd(same)
	     : map == to->maps.interpreters ? side->interpreters
					    : side->java;
	r = fd < 0 ? bpf_map__set_autocreate(map, false) : bpf_map__reuse_fd(map, fd);
	return r < 0 ? kernel_side_explain(side, r, err) : 0;
}

static int share_maps(struct interpreted *to, const struct kernel_side *side, struct error *err)
{
	struct bpf_map *map;
	int r = 0;

	bpf_object__for_each_map(map, to->obj)
	{
		if (r == 0 && !is_own(to, map))
			r = share_map(to, map, side, err);
	}
	return r;
}

/* Loads the programs, and has the loaded ones jump to the trigger's. */
static int load_programs(struct interpreted_load *load)
{
	const struct interpreted *skeleton = load->skeleton;
	struct bpf_program *program;
	int r = bpf_object__load(skeleton->obj);

	bpf_object__for_each_program(program, skeleton->obj)
	{
		bool waking = program == skeleton->progs.on_waking;
		const struct bpf_map *map = waking || program == skeleton->progs.on_switch
						    ? skeleton->maps.interpreted_switch
						    : skeleton->maps.interpreted;
		uint32_t at = waking ? WIRE_INTERPRETED_WAKING : 0;
		int fd = bpf_program__fd(program);

		if (r == 0 && fd >= 0 &&
		    bpf_map_update_elem(bpf_map__fd(map), &at, &fd, BPF_ANY) < 0)
			r = -errno;
	}
	return r;
}

static void *run(void *context)
{
	struct interpreted_load *load = context;
	int r = load_programs(load);

	load->r = r < 0 ? kernel_side_explain(load->side, r, &load->err) : 0;
	atomic_store(&load->over, true);
	return NULL;
}

static int prepare(struct interpreted_load *load, struct trigger *trigger, uint32_t languages,
		   struct error *err)
{
	int r = kernel_btf_new(&load->btf, err);
	LIBBPF_OPTS(bpf_object_open_opts, options,
		    .btf_custom_path = r == 0 && load->btf.fd >= 0 ? load->btf.path : NULL);

	if (r < 0)
		return r;
	load->skeleton = interpreted__open_opts(&options);
	if (!load->skeleton)
		return error_set(err, -errno, "cannot open the BPF object: %s", strerror(errno));
	kernel_side_opened(load->skeleton->skeleton);
	if (load->btf.fd >= 0)
		r = kernel_btf_fill(&load->btf, bpf_object__btf(load->skeleton->obj), NULL, err);
	if (r < 0)
		return r;
	*(struct wire_config *)&load->skeleton->rodata->config =
		load->side->skeleton->rodata->config;
	*(struct wire_expressions *)&load->skeleton->rodata->expressions =
		load->side->skeleton->rodata->expressions;
	*(struct wire_off_cpu_config *)&load->skeleton->rodata->off_cpu =
		load->side->skeleton->rodata->off_cpu;
	*(uint32_t *)&load->skeleton->rodata->languages = languages;
	bpf_map__set_max_entries(load->skeleton->maps.java_places,
				 languages >> LANGUAGE_JAVA & 1
					 ? bpf_map__max_entries(load->side->skeleton->maps.scratch)
					 : 1);
	r = trigger->ops->select(trigger, load->skeleton->obj, err);
	if (r < 0)
		return r;
	return share_maps(load->skeleton, load->side, err);
}

static int begin(const struct kernel_side *side, struct trigger *trigger, uint32_t languages,
		 struct interpreted_load **ret_load, struct error *err)
{
	own(own_load_free) struct interpreted_load *load = calloc(1, sizeof(*load));
	int r;

	if (!load)
		return error_set(err, -ENOMEM, "out of memory");
	load->btf.fd = -1;
	load->side = side;
	r = prepare(load, trigger, languages, err);
	if (r < 0)
		return r;
	r = thread_start(&load->thread, run, load);
	if (r < 0)
		return error_set(err, r, "cannot start a thread: %s", strerror(-r));
	*ret_load = take_ptr(load);
	return 0;
}

void interpreted_await(struct walkers *walkers)
{
	struct interpreted_load *load = take_ptr(walkers->load);

	if (!load)
		return;
	pthread_join(load->thread, NULL);
	if (load->r < 0)
		walkers->why_not = load->err;
	load_free(load);
}

bool interpreted_are_loading(const struct walkers *walkers)
{
	return walkers->load && !atomic_load(&walkers->load->over);
}

void interpreted_walk(struct walkers *walkers, const struct kernel_side *side,
		      struct trigger *trigger, uint32_t languages)
{
	if (interpreted_are_loading(walkers))
		return;
	interpreted_await(walkers);
	if (languages == walkers->languages)
		return;
	walkers->languages = languages;
	begin(side, trigger, languages, &walkers->load, &walkers->why_not);
}
