/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Which generated code keeps frame pointers, and where, is not known yet: no frame is guessed. */
UNWIND_INLINE __u32 unwind_generated(struct unwind_walk *walk, struct unwind_cached_rule *cached,
				     bool known UNWIND_CONTEXT)
{
	(void)cached;
	(void)known;
	return walk->may_chain ? WIRE_END_JIT : WIRE_END_NO_CFI;
}
