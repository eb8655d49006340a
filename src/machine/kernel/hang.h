/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels that can hang when a BPF program reads user memory: copy_from_user_nofault() may take the
 * mmap lock (by find_vma() in the usercopy checks) with interrupts off. Broken since 5.19; fixed in
 * 6.4 (d319f344561d) and in stable 6.1.36 and 6.3.10; 6.0 and 6.2 were never fixed.
 *
 * A pure function of the kernel's version strings.
 */
#ifndef STACKTALLY_KERNEL_HANG_H
#define STACKTALLY_KERNEL_HANG_H

enum hang_risk {
	HANG_SAFE,
	HANG_DOUBT, /* the version is affected, but its distributor backports fixes */
	HANG_AFFECTED,
};

#define HANG_LEVEL_SIZE 32

/*
 * `release` and `version` are those of uname(2); `signature` is the content of
 * /proc/version_signature (Ubuntu) or NULL. Debian puts the stable release in `version`, Ubuntu in
 * `signature`; elsewhere `release` has it. `ret_level` receives it ("6.1.20") unless it is NULL or
 * none of them parses, which counts as safe.
 */
enum hang_risk hang_risk(const char *release, const char *version, const char *signature,
			 char ret_level[HANG_LEVEL_SIZE]);

#endif
