// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats that are not read here, by their first bytes, and what makes one of them that is. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "import/kind.h"

#define OLD_PPROF "an old format of pprof: use go tool pprof -proto FILE, and read what it writes"
#define OUR_TEXT                                                                                   \
	"text for people: -f writes folded stacks, and -o NAME.stacktally a recording, to read "   \
	"again"
#define PERF_DATA      "perf's data: pipe `perf script -i FILE` into --from -"
#define UTF_16	       "it is UTF-16: pipe `iconv -f UTF-16 -t UTF-8 FILE` into --from -"
#define PACKED(reader) "it is packed: pipe `" reader " FILE` into --from -"

static const struct {
	const char *start, *advice;
} formats[] = {
	{ "\x28\xb5\x2f\xfd", PACKED("zstdcat") },
	{ "\xfd"
	  "7zXZ",
	  PACKED("xzcat") },
	{ "BZh", PACKED("bzcat") },
	{ "\x04\x22\x4d\x18", PACKED("lz4cat") },
	{ "\xff\xfe", UTF_16 },
	{ "\xfe\xff", UTF_16 },
	{ "PERFILE2", PERF_DATA },
	{ "2ELIFREP", PERF_DATA },
	{ "heap profile:", OLD_PPROF },
	{ "heapz ", OLD_PPROF },
	{ "growthz ", OLD_PPROF },
	{ "goroutine profile:", OLD_PPROF },
	{ "threadcreate profile:", OLD_PPROF },
	{ "--- ", OLD_PPROF },
	{ "goroutine ", "a dump of goroutines: Go's own pprof formats are read (debug=0)" },
	{ "Sampling at ", OUR_TEXT },
	{ "Tracing ", OUR_TEXT },
	{ "# To display the perf.data header info", PERF_DATA },
	{ "@[",
	  "bpftrace's text: pipe `stackcollapse-bpftrace.pl FILE` of FlameGraph into --from -" },
	{ "<svg", "a picture: read what it was made from" },
	{ "<?xml", "a picture: read what it was made from" },
	{ "<!DOCTYPE", "a page: read what it was made from" },
	{ "{\"format\":\"stacktally\"",
	  "our JSON, which is for other programs: save a recording with "
	  "-o NAME.stacktally, or folded stacks, to read again" },
	{ "{",
	  "JSON of another kind than speedscope's and the Firefox Profiler's: have that program "
	  "write one of these, folded stacks or pprof's format" },
	{ "[", "JSON, which is not read: have that program write folded stacks or pprof's format" },
};

/* The words at the beginning of gperftools' CPU profiles: 0, 3, 0, for 32 or 64 bits. */
static bool is_old_cpu_profile(const char *bytes, size_t size)
{
	static const uint64_t words[] = { 0, 3, 0 };
	static const uint32_t halves[] = { 0, 3, 0 };

	return (size >= sizeof(words) && memcmp(bytes, words, sizeof(words)) == 0) ||
	       (size >= sizeof(halves) && memcmp(bytes, halves, sizeof(halves)) == 0);
}

/* Folded stacks may begin with a brace or a bracket; their first line ends with a number. */
static bool is_folded_line(const char *bytes, size_t size)
{
	const char *end = memchr(bytes, '\n', size);

	if (!end)
		end = bytes + size;
	while (end > bytes && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	return end > bytes && end[-1] >= '0' && end[-1] <= '9' &&
	       memchr(bytes, ' ', (size_t)(end - bytes));
}

/* What profile, stackcount and bcc's tools print: frames behind four blanks. */
static bool is_our_text(const char *bytes, size_t size)
{
	while (size > 0 && *bytes == '\n') {
		bytes++;
		size--;
	}
	return size > 5 && memcmp(bytes, "    ", 4) == 0 && bytes[4] > ' ' &&
	       !is_folded_line(bytes, size);
}

/* What it is, and the next command; or NULL. */
static const char *advice_for(const char *bytes, size_t size)
{
	if (is_old_cpu_profile(bytes, size))
		return OLD_PPROF;
	if (size > 0 && strchr("[{<", bytes[0]) && is_folded_line(bytes, size))
		return NULL;
	if (is_our_text(bytes, size))
		return OUR_TEXT;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		size_t n = strlen(formats[i].start);

		if (size > n && memcmp(bytes, formats[i].start, n) == 0)
			return formats[i].advice;
	}
	return NULL;
}

static bool is_other(const char *bytes, size_t size)
{
	return advice_for(bytes, size) != NULL;
}

static int refuse(const struct import_file *file, struct baseline *base, struct error *err)
{
	(void)base;
	return error_set(err, -EINVAL, "%s", advice_for(file->bytes, file->size));
}

const struct import_kind others_kind = { .knows = is_other, .read = refuse };
