#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A new kind of trigger is one file, one line and one entry program: new_trigger_test.sh BUILD. One is
# added to a copy of src/; a test program makes it from a pattern and loads its BPF program.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
cp -r "$top/src" "$TMPDIR/src"
cd "$TMPDIR" || exit 1

cat >src/measure/trigger/sample.c <<'C'
#include <bpf/libbpf.h>
#include <errno.h>

#include "trigger/entry.h"
#include "trigger/kinds.h"
#include "trigger/probes.h"

static int select_programs(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct bpf_program *program;

	return entry_select(&trigger->scope, object, "on_sample", &program, err);
}

static void free_trigger(struct trigger *trigger)
{
	probes_clear((struct probes *)trigger);
	free(trigger);
}

static const struct trigger_ops SAMPLE_OPS = {
	.select = select_programs,
	.stop = entry_stop,
	.free = free_trigger,
	.n_attached = probes_n_attached,
};

static int make(const struct spec *spec, pid_t pid, struct probes **ret_probes, struct error *err)
{
	struct probes *probes = calloc(1, sizeof(*probes));

	(void)pid;
	if (!probes)
		return error_set(err, -ENOMEM, "out of memory");
	probes_leave_out(probes, spec->name, spec->provider);
	probes->trigger.ops = &SAMPLE_OPS;
	*ret_probes = probes;
	return 0;
}

const struct trigger_kind sample_kind = { .type = 's', .takes_provider = true, .make = make };
C
sed -i '/^#define TRIGGER_KINDS/a KIND(sample) \\' src/measure/trigger/kinds.h
sed -i '$d' src/in_kernel/bpf/triggers.bpf.h
cat >>src/in_kernel/bpf/triggers.bpf.h <<'C'
SEC("?raw_tp")
int on_sample(void *ctx)
{
	return on_event(ctx, HIT_KERNEL, CONTEXT_OTHER, false);
}

#endif
C
touched=$(diff -rq "$top/src" src | sed 's/.*: //; s/ and .*//; s,.*/,,' | sort | tr '\n' ' ')
lines=$(diff "$top/src/measure/trigger/kinds.h" src/measure/trigger/kinds.h | grep -c '^[<>]')
if [ "$touched" = "kinds.h sample.c triggers.bpf.h " ] && [ "$lines" = 1 ]; then
	echo "ok a kind of trigger is a file, a line and an entry program"
else
	echo "FAIL a kind of trigger is a file, a line and an entry program: $touched, $lines lines"
fi

cat >driver.c <<'C'
#include <bpf/libbpf.h>
#include <stdio.h>

#include "trigger/spec.h"

int main(int argc, char **argv)
{
	struct bpf_object *object = bpf_object__open_file(argv[argc - 1], NULL);
	struct trigger *trigger;
	struct error err = { 0 };
	const char *text;

	if (!object || spec_trigger_new(&(struct spec_request){ .text = "s:here:there" }, &trigger, &err) < 0 ||
	    trigger->ops->select(trigger, object, &err) < 0) {
		printf("%s\n", err.text);
		return 1;
	}
	spec_trigger_left_out(trigger, &text);
	printf("%s: %s", trigger->event, text);
	if (bpf_program__autoload(bpf_object__find_program_by_name(object, "on_sample")))
		printf(", to be loaded");
	trigger_free(trigger);
	if (spec_trigger_new(&(struct spec_request){ .text = "x:a:b" }, &trigger, &err) < 0)
		printf("; %s\n", err.text);
	bpf_object__close(object);
	return 0;
}
C
arch=$(uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
source_dirs=$("$top/scripts/rooms" flags .)
clang -g -O2 -target bpf -mcpu=v2 -D__TARGET_ARCH_"$arch" -Wno-missing-declarations \
	-Wno-unknown-warning-option -Wno-default-const-init-var-unsafe $source_dirs -I"$build" \
	-idirafter "/usr/include/$(gcc -print-multiarch)" -c src/in_kernel/bpf/entry.bpf.c -o entry.bpf.o &&
	gcc -std=gnu17 -D_GNU_SOURCE $source_dirs driver.c src/measure/trigger/sample.c src/measure/trigger/spec.c \
		"$build/libcore.a" -o driver -lbpf -ldw -lelf -liberty -lz -llzma -lzstd -lpthread || {
	echo "FAIL it is built"
	exit
}
said=$(./driver entry.bpf.o)
want="s:here:there: there (here), to be loaded; Type must be 's', 'p', 't', or 'u', but got x"
if [ "$said" = "$want" ]; then
	echo "ok a pattern makes it, and its program is loaded"
else
	echo "FAIL a pattern makes it, and its program is loaded: $said"
fi
