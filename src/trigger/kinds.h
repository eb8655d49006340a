/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What spec.c knows of the kinds of triggers that are made from a pattern: one constructor each.
 * They look for what matches and attach nothing. On success the caller owns the trigger.
 */
#ifndef STACKTALLY_TRIGGER_KINDS_H
#define STACKTALLY_TRIGGER_KINDS_H

#include "trigger/probes.h"
#include "trigger/spec.h"

/* How to attach to kernel functions; all but KPROBE_BEST are for tests. */
enum kprobe_how { KPROBE_BEST, KPROBE_MULTI, KPROBE_SINGLE, KPROBE_FENTRY };

int kprobe_trigger_new(const struct spec *spec, enum kprobe_how how, struct probes **ret_probes,
		       struct error *err);
int uprobe_trigger_new(const struct spec *spec, pid_t pid, struct probes **ret_probes,
		       struct error *err);
int tracepoint_trigger_new(const struct spec *spec, struct probes **ret_probes, struct error *err);
int usdt_trigger_new(const struct spec *spec, pid_t pid, struct probes **ret_probes,
		     struct error *err);

#endif
