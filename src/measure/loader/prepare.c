// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/prepare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/own.h"
#include "kernel/capability.h"
#include "kernel/hang.h"
#include "loader/depth.h"

static void read_line(const char *path, char *line, size_t size)
{
	own(own_file) FILE *file = fopen(path, "re");

	if (!file || !fgets(line, (int)size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static int check_hang(const struct plan *plan, char *warning, size_t size, struct error *err)
{
	char signature[256], level[HANG_LEVEL_SIZE];
	struct utsname name;
	enum hang_risk risk;

	if (uname(&name) < 0)
		return 0;
	read_line("/proc/version_signature", signature, sizeof(signature));
	risk = hang_risk(name.release, name.version, signature, level);
	if (risk == HANG_AFFECTED && !plan->force)
		return error_privilege(
			err, -EOPNOTSUPP,
			"this kernel (%s, patch level %s) can hang when a BPF program "
			"reads user memory (fixed in 6.1.36, 6.3.10 and 6.4): update "
			"it, or take the risk with --force",
			name.release, level);
	if (risk != HANG_SAFE)
		snprintf(
			warning, size,
			"WARNING: kernels of this version (%s) could hang when a BPF program reads "
			"user memory, unless the fix of 6.4 (d319f344561d) was backported.",
			level);
	return 0;
}

/* At least one for each CPU is needed; soft limits are low for the sake of select(2). */
void prepare_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The depth of the deepest stack that the kernel's own walks record for us. */
static uint32_t depth_of_kernel_walks(const struct plan *plan)
{
	uint32_t kernel = plan->kernel ? plan->kernel_depth : 0;
	uint32_t user = plan->user && plan->unwind == PLAN_UNWIND_FP ? plan->user_depth : 0;

	return kernel > user ? kernel : user;
}

int prepare_machine(const struct plan *plan, struct prepared *ret_prepared, struct error *err)
{
	int r = capability_check(err);

	if (r < 0)
		return r;
	r = check_hang(plan, ret_prepared->warning, sizeof(ret_prepared->warning), err);
	if (r < 0)
		return r;
	return depth_raise(depth_of_kernel_walks(plan), &ret_prepared->limit_before,
			   &ret_prepared->max_stack, err);
}

uint32_t prepare_restore(const struct prepared *prepared)
{
	return depth_restore(prepared->limit_before) == 0 ? 0 : prepared->limit_before;
}
