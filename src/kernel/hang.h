/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels that may hang when a BPF program reads user memory: copy_from_user_nofault() could take
 * the mmap lock (via find_vma() in the usercopy checks) with interrupts off. In since 5.19, fixed
 * in 6.4 (d319f344561d), and in the stable series 6.1.36 and 6.3.10; 6.0 and 6.2 never got it.
 *
 * A pure function over what the kernel says of itself, so that it can be tested.
 */
#ifndef STACKTALLY_KERNEL_HANG_H
#define STACKTALLY_KERNEL_HANG_H

enum hang_risk {
	HANG_SAFE,
	HANG_DOUBT, /* the version is affected, but its distributor carries fixes back */
	HANG_AFFECTED,
};

/*
 * `release` and `version` are those of uname(2); `signature` is the content of
 * /proc/version_signature or NULL. The true patch level is taken from where distributions give
 * it: Debian in uname -v, Ubuntu in the signature. `ret_level` (may be NULL) receives it as
 * "6.1.20"; at least 32 bytes.
 */
enum hang_risk hang_risk(const char *release, const char *version, const char *signature,
			 char *ret_level);

#endif
