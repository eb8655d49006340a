#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 400
# A new language is four new files (the fourth is its test) and one line: adds one to a copy of the sources,
# builds it, looks for it wherever languages are shown, and by root profiles a program in it. Stands for
# reports like "my interpreter's functions are missing", which somebody is to be able to mend:
# new_language_test.sh BUILD
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
copy=$TMPDIR/copy
mkdir "$copy"
cp -rp "$top/Makefile" "$top/src" "$top/scripts" "$copy/"
cp -rp "$build" "$copy/build" # most objects are up to date
rm -rf "$copy"/build/{tests,asan,fuzz,poisoned,vm}

# check STATUS NAME WHY
check() { if [ "$1" -eq 0 ]; then echo "ok $2"; else echo "FAIL $2: $3"; fi; }

# ---- the language: each call of its evaluator runs one function, and links a frame with its name
cat >"$copy/src/in_kernel/bpf/shout_language.h" <<'END'
/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#ifndef STACKTALLY_BPF_SHOUT_LANGUAGE_H
#define STACKTALLY_BPF_SHOUT_LANGUAGE_H

#include <linux/types.h>

struct wire_shout {
	__u64 innermost; /* address in the file: the innermost frame */
};

struct shout_walk {
	__u64 frames; /* of this walk */
};

#endif
END
cat >"$copy/src/in_kernel/languages/shout.bpf.h" <<'END'
/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#ifndef STACKTALLY_LANGUAGES_SHOUT_BPF_H
#define STACKTALLY_LANGUAGES_SHOUT_BPF_H

#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"

#define SHOUT_NAME 8 /* bytes of a name */

static __always_inline bool shout_find_state(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;

	(void)number;
	interp->ordered = 1;
	interp->shout_walk.frames = 0;
	interp->reason = WIRE_SCRIPT_NO_STATE;
	if (!read_word(&interp->next, interp->shout.innermost + interp->bias))
		return false;
	interp->reason = WIRE_SCRIPT_UNMATCHED;
	return true;
}

#define shout_has_run 1
__noinline int shout_run(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_SHOUT, number);
	struct found_text name = { .size = SHOUT_NAME, .kind = WIRE_TEXT_UTF8 };
	struct found_text file = { .kind = WIRE_TEXT_UTF8 };
	struct interpreter_walk *interp;
	__u64 frame[2]; /* the one before, and the name */

	if (!slot || slot->interp.language != LANGUAGE_SHOUT)
		return 0;
	interp = &slot->interp;
	if (!interp_begin_run(interp))
		return 0;
	interp->anchor = 1;
	if (bpf_probe_read_user(frame, sizeof(frame), (const void *)interp->next)) {
		interp->next = 0;
		interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
		return 0;
	}
	interp->shout_walk.frames++;
	interp->next = frame[0];
	interp->line = 0;
	interp->content = 0;
	interp->id = code_id(interp, frame[1], 0, 0);
	name.from = frame[1];
	if (!is_sent(interp) && has_room_for_names() &&
	    copy_text(&name, false, interp->message.name, WIRE_SCRIPT_TEXT))
		send_message(interp, &name, &file);
	interp_stage(slot, LANGUAGE_SHOUT, interp->id);
	return 0;
}

#endif
END
cat >"$copy/src/measure/interpreters/shout.c" <<'END'
// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_exports.h"
#include "interpreters/languages.h"

static int read_shout(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[] = { { .name = "shout_evaluate" }, { .name = "shout_innermost" } };
	int r = elf_exports_find(elf, symbols, 2);

	if (r < 0 || !symbols[0].address || !symbols[1].address)
		return r;
	ret_interpreter->language = LANGUAGE_SHOUT;
	ret_interpreter->evaluator = symbols[0].address;
	ret_interpreter->evaluator_end = symbols[0].address + symbols[0].size;
	ret_interpreter->shout.innermost = symbols[1].address;
	return 0;
}

const struct language_reader language_shout = {
	.exports = LANGUAGE_EXPORTS("shout_evaluate"),
	.file_name = "shout",
	.read = read_shout,
};
END
python3 - "$copy/src/in_kernel/bpf/languages.h" <<'END'
import sys
path = sys.argv[1]
text = open(path).read()
last = text.index("/* clang-format on */")
list_end = text[:last].rstrip("\n")
open(path, "w").write(list_end + " \\\n\tLANGUAGE(SHOUT, shout, \"Shout\", RUNS, PALETTE(300, 14, 66, 68, 10), "
                      "TERMINAL(200, 100, 200, 18, 0xff00ff))\n" + text[last:])
END

# The line before it only goes on to the next one now.
files=$(diff -rq "$top/src" "$copy/src")
changes=$(diff -U0 "$top/src/in_kernel/bpf/languages.h" "$copy/src/in_kernel/bpf/languages.h" | sed 's/ *\\$//' | sort -k 1.2 | uniq -u -s 1 |
	grep -c '^[-+]	')
[ "$changes" = 1 ] && [ "$(grep -c '^Only in' <<<"$files")" = 3 ] && [ "$(wc -l <<<"$files")" = 4 ]
check $? "a new language touches three new files beside its test, and one line" "$changes lines; $files"

make --no-print-directory -C "$copy" all >"$TMPDIR/log" 2>&1
check $? "the new language builds" "$(grep -m 3 -E 'error|Error' "$TMPDIR/log")"
grep -q '\["Shout", \[300, 14, 66, 68, 10\]\]' "$copy/build/page.js"
check $? "pages know its title and colours" "$(head -n 3 "$copy/build/page.js")"

# ---- a program in it, whose file is known by what it exports, not by its name
mkdir "$TMPDIR/bin"
cat >"$TMPDIR/shout.c" <<'END'
#include <stdint.h>
#include <time.h>

struct frame { struct frame *before; const char *name; } *shout_innermost;
static volatile uint64_t sink;

__attribute__((noinline)) void shout_evaluate(const char *const *names)
{
	struct frame frame = { shout_innermost, *names };
	clock_t until = clock() + 2 * CLOCKS_PER_SEC;

	shout_innermost = &frame;
	sink += **names; /* what is read later has to be in memory */
	if (names[1])
		shout_evaluate(names + 1);
	else
		while (clock() < until)
			for (int i = 0; i < 100000; i++)
				sink += i;
	shout_innermost = frame.before;
}

int main(void)
{
	shout_evaluate((const char *const[]){ "SHOUT_IT", "SHOUT_UP", "SHOUT_OK", 0 });
}
END
gcc -O0 -g -rdynamic -o "$TMPDIR/bin/cry" "$TMPDIR/shout.c" || exit 2
if [ "$(id -u)" != 0 ]; then
	echo "skip functions of the new language: not root"
	exit
fi
"$copy/build/profile" -f -U -F 99 -o "$TMPDIR/out.folded" -o "$TMPDIR/out.svg" -- "$TMPDIR/bin/cry" >"$TMPDIR/said" 2>"$TMPDIR/err"
grep -q ';main;SHOUT_IT (<anonymous>);SHOUT_UP (<anonymous>);SHOUT_OK (<anonymous>)' "$TMPDIR/out.folded"
check $? "functions of the new language are shown" "$(tail -n 3 "$TMPDIR/out.folded") $(tail -n 2 "$TMPDIR/err")"
! grep -q 'shout_evaluate\|\[shout: unmatched' "$TMPDIR/out.folded"
check $? "they stand in place of their evaluators' frames" "$(grep 'shout_evaluate\|\[shout' "$TMPDIR/out.folded" | tail -n 2)"
grep -q '>Shout</text>' "$TMPDIR/out.svg"
check $? "a picture tells its functions from others" "$(grep -o 'id="legend".*' "$TMPDIR/out.svg" | cut -c 1-300)"
