/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* add $8,%rsp; ret */
#define UNWIND_CODE_RETURN 0xc308c48348ull
#define UNWIND_CODE_RET	   0xc3
/* call *%rcx, and that */
#define UNWIND_CODE_CALL 0xc308c48348d1ffull
/* sub $8,%rsp, and that: 11 bytes */
#define UNWIND_CODE_ENTRY      0x8348d1ff08ec8348ull
#define UNWIND_CODE_ENTRY_REST 0xc308c4ull

/* push %rbp; mov %rsp,%rbp: a frame begins */
#define UNWIND_CODE_ENTER	  0xe5894855u
#define UNWIND_CODE_SET_FP	  0xe58948u /* the second of them */
#define UNWIND_CODE_RET_ARGUMENTS 0xc2u	    /* ret $BYTES */
/* cmp $N,%rcx; jg over the next; ret $BYTES: V8's functions return so, without the arguments */
#define UNWIND_CODE_V8_RETURNS 0xc2037f00f98348ull
/* jmp over the next six bytes: Erlang's functions begin so, and have a trap there */
#define UNWIND_CODE_OVER_TRAP 0x06eb
#define UNWIND_CODE_JMP	      0xe9
#define UNWIND_CODE_DEC_R14   0xceff41u /* of 32 bits; with the bit 8, of 64 */
/* jmp *(%rax,%r12,8): after leave, Erlang's way into a function of another module */
#define UNWIND_CODE_ERLANG_LEAVES 0xe024ff42c9ull

/*
 * Whether these bytes may be an instruction that does not lead to the next one: ret, leave, int3,
 * call, jmp, hlt, pop %rbp. Other instructions have such bytes, too; the code is then not followed.
 */
UNWIND_INLINE bool unwind_code_leaves(__u64 bytes)
{
	__u8 first = bytes, second = bytes >> 8;

	return first == 0xc3 || first == 0xc2 || first == 0xc9 || first == 0xcc || first == 0xe8 ||
	       first == 0xe9 || first == 0xeb || first == 0xf4 || first == 0x5d ||
	       (first == 0x0f && second == 0x0b) || (first == 0xff && (second & 0x38) == 0x20);
}

/*
 * Whether a frame begins in the first 16 bytes of code: before that, V8's functions look at their
 * state. The end of another function must not lie in between.
 */
UNWIND_INLINE bool unwind_code_enters(const __u64 code[2])
{
	__u64 low = code[0], high = code[1];

	for (int i = 0; i < 13; i++) {
		if ((__u32)low == UNWIND_CODE_ENTER)
			return true;
		if (unwind_code_leaves(low))
			return false;
		low = low >> 8 | high << 56;
		high >>= 8;
	}
	return false;
}

/* Whether these are the first bytes of a function, or its state is looked at before its frame
 * begins. */
UNWIND_INLINE bool unwind_code_begins(const __u64 code[2])
{
	return (code[0] & 0xffff) == UNWIND_CODE_OVER_TRAP ? (__u32)code[1] == UNWIND_CODE_ENTER
							   : unwind_code_enters(code);
}

/* Whether next is a conditional jump and ret, as where Erlang has counted a function down that
 * ends. */
UNWIND_INLINE bool unwind_code_may_return(const __u64 code[2])
{
	__u64 low = code[0];

	if ((low & 0xfffff7) == UNWIND_CODE_DEC_R14)
		low = low >> 24 | code[1] << 40;
	return (low & 0xff00000000f0ffull) == ((__u64)UNWIND_CODE_RET << 48 | 0x800f);
}

/*
 * Whether next is a jump to the first bytes of a function, which has the caller of the one that
 * jumps, or Erlang's through a table. A function has left its frame before it.
 */
UNWIND_INLINE bool unwind_code_goes_over(__u64 pc, const __u64 code[2] UNWIND_CONTEXT)
{
	__u64 there[2] = { 0 };

	if ((code[0] & 0xff) == UNWIND_CODE_JMP)
		return !UNWIND_CODE(there, sizeof(there), pc + 5 + (__u64)(__s32)(code[0] >> 8)) &&
		       unwind_code_begins(there);
	return (__u32)code[0] == (UNWIND_CODE_ERLANG_LEAVES >> 8) &&
	       !UNWIND_CODE(there, 5, pc - 1) && there[0] == UNWIND_CODE_ERLANG_LEAVES;
}

/*
 * How far above the stack pointer the return address is, if the instructions that run next in
 * generated code say so: they return, or begin a frame. CPython's trampolines, which it makes for
 * perf, are sub $8,%rsp; call *%rcx; add $8,%rsp; ret, and keep no frame pointer. -1: they do not
 * say; -2: the code cannot be read.
 */
UNWIND_INLINE int unwind_code_returns(const struct unwind_walk *walk UNWIND_CONTEXT)
{
	__u64 code = 0, rest[2] = { 0 };

	if (UNWIND_CODE(&code, 5, walk->pc))
		return -2;
	if (code == UNWIND_CODE_RETURN)
		return 8;
	if (!walk->exact)
		return -1;
	if ((code & 0xff) == UNWIND_CODE_RET)
		return 0;
	if (UNWIND_CODE(rest, 16, walk->pc) && UNWIND_CODE(rest, 11, walk->pc))
		return -2;
	if ((rest[0] & 0xffffff) == UNWIND_CODE_SET_FP)
		return 8;
	if (unwind_code_begins(rest) || (rest[0] & 0xff) == UNWIND_CODE_RET_ARGUMENTS ||
	    (rest[0] & 0xffffff00ffffff) == UNWIND_CODE_V8_RETURNS ||
	    unwind_code_may_return(rest) || unwind_code_goes_over(walk->pc, rest UNWIND_PASS))
		return 0;
	if ((rest[0] & 0xffffffffffffffull) == UNWIND_CODE_CALL)
		return 8;
	return rest[0] == UNWIND_CODE_ENTRY && (rest[1] & 0xffffff) == UNWIND_CODE_ENTRY_REST ? 0
											      : -1;
}

/*
 * Whether an address follows a call: call ADDRESS, or through a register or memory, in any length.
 * Other instructions may end with such bytes.
 */
UNWIND_INLINE bool unwind_code_called(__u64 pc UNWIND_CONTEXT)
{
	__u64 bytes = 0;

	if (UNWIND_CODE(&bytes, sizeof(bytes), pc - sizeof(bytes)))
		return false;
	return (bytes >> 24 & 0xff) == 0xe8 || (bytes >> 48 & 0x38ff) == 0x10ff ||
	       (bytes >> 40 & 0x38ff) == 0x10ff || (bytes >> 32 & 0x38ff) == 0x10ff ||
	       (bytes >> 16 & 0x38ff) == 0x10ff || (bytes >> 8 & 0x38ff) == 0x10ff;
}

/*
 * Whether LuaJIT compiled the code: then goes on to the caller of its interpreter. Its code keeps
 * no frame pointer, and has anything in that register.
 */
UNWIND_INLINE bool unwind_luajit(struct unwind_walk *walk UNWIND_CONTEXT)
{
	__u64 frame = UNWIND_LUAJIT_FRAME(walk->registers[UNWIND_SP]), saved[2];

	if (!frame || UNWIND_READ(saved, sizeof(saved), frame + LUAJIT_FRAME_FP))
		return false;
	walk->registers[UNWIND_FP] = saved[0];
	walk->registers[UNWIND_SP] = frame + WIRE_LUAJIT_FRAME;
	walk->rbx_at = frame + LUAJIT_FRAME_RBX;
	walk->pc = saved[1];
	walk->known = UNWIND_BIT(UNWIND_FP) | UNWIND_BIT(UNWIND_SP) | UNWIND_BIT(UNWIND_FOLLOWED);
	walk->exact = 0;
	walk->callee_owner = UNWIND_GENERATED;
	return true;
}

/*
 * In generated code: as the code itself says, or at the frame pointer are the caller's and above it
 * the return address. That an address has code of the second kind is cached, as reading code costs
 * as much as the step. `known`: that was found in the cache.
 */
UNWIND_INLINE __u32 unwind_generated(struct unwind_walk *walk, struct unwind_cached_rule *cached,
				     bool known UNWIND_CONTEXT)
{
	__u64 fp = walk->registers[UNWIND_FP], saved[2] = { 0 };
	bool has_frame;
	int above;

	if (!walk->may_chain)
		return WIRE_END_NO_CFI;
	above = known ? -1 : unwind_code_returns(walk UNWIND_PASS);
	if (above >= 0) {
		__u64 sp = walk->registers[UNWIND_SP] + (above ? 8 : 0);

		if (UNWIND_READ(saved, sizeof(saved[0]), sp))
			return WIRE_END_READ;
		walk->registers[UNWIND_SP] = sp + 8;
		walk->pc = saved[0];
		walk->exact = 0;
		walk->callee_owner = UNWIND_GENERATED;
		return WIRE_END_NONE;
	}
	if (!known && above == -1) {
		cached->span = walk->pc - (walk->exact ? 0 : 1);
		cached->layout = walk->layout;
		cached->owner = UNWIND_GENERATED;
		cached->rule.cfa = WIRE_CFA_NONE;
	}
	has_frame = UNWIND_KNOWS(walk, UNWIND_FP) && fp >= walk->registers[UNWIND_SP] &&
		    !(fp & 7) && !UNWIND_READ(saved, sizeof(saved), fp);
	if (walk->callee_owner != UNWIND_GENERATED &&
	    !(has_frame && unwind_code_called(saved[1] UNWIND_PASS)) &&
	    unwind_luajit(walk UNWIND_PASS))
		return WIRE_END_NONE;
	if (!has_frame)
		return WIRE_END_JIT;
	walk->registers[UNWIND_FP] = saved[0];
	walk->registers[UNWIND_SP] = fp + 16;
	walk->pc = saved[1];
	walk->known = UNWIND_BIT(UNWIND_FP) | UNWIND_BIT(UNWIND_SP);
	walk->exact = 0;
	walk->by_chain = 1;
	walk->callee_owner = UNWIND_GENERATED;
	return WIRE_END_NONE;
}
