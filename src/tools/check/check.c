// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/check.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "check/facts.h"
#include "check/finding.h"
#include "check/trials.h"
#include "view/json_text.h"

static int exit_code(const struct findings *findings)
{
	int code = EXIT_CLASS_OK;

	for (uint32_t i = 0; i < findings->n; i++) {
		const struct finding *finding = &findings->list[i];

		if (finding->status == FINDING_MISSING && !strcmp(finding->name, "CPU samples"))
			return EXIT_CLASS_PRIVILEGE;
		if (finding->status == FINDING_MISSING || finding->status == FINDING_LIMITED)
			code = EXIT_CLASS_RUNTIME;
	}
	return code;
}

static void put_padded(struct bytes *bytes, const char *text, size_t width)
{
	bytes_string(bytes, text);
	for (size_t n = strlen(text); n < width; n++)
		bytes_char(bytes, ' ');
}

static void put_text(const struct findings *findings, struct bytes *bytes)
{
	for (uint32_t i = 0; i < findings->n; i++) {
		const struct finding *finding = &findings->list[i];

		put_padded(bytes, finding_status_name(finding->status), 11);
		put_padded(bytes, finding->name, 23);
		bytes_name(bytes, finding->says, strlen(finding->says));
		bytes_char(bytes, '\n');
		if (!*finding->remedy)
			continue;
		put_padded(bytes, "", 11);
		bytes_string(bytes, "-> ");
		bytes_name(bytes, finding->remedy, strlen(finding->remedy));
		bytes_char(bytes, '\n');
	}
}

static void put_member(struct bytes *bytes, const char *key, const char *value)
{
	json_key(bytes, key);
	json_string(bytes, value);
}

static void put_json(const struct findings *findings, struct bytes *bytes)
{
	bytes_string(bytes, "[");
	for (uint32_t i = 0; i < findings->n; i++) {
		const struct finding *finding = &findings->list[i];

		bytes_string(bytes, i ? ",\n{" : "\n{");
		put_member(bytes, "name", finding->name);
		bytes_char(bytes, ',');
		put_member(bytes, "status", finding_status_name(finding->status));
		bytes_char(bytes, ',');
		put_member(bytes, "says", finding->says);
		if (*finding->remedy) {
			bytes_char(bytes, ',');
			put_member(bytes, "remedy", finding->remedy);
		}
		bytes_char(bytes, '}');
	}
	bytes_string(bytes, "]\n");
}

int check(bool json)
{
	struct findings findings = { 0 };
	struct bytes bytes;
	int failed;

	facts_find(&findings);
	trials_run(&findings);
	bytes_start(&bytes, stdout);
	if (json)
		put_json(&findings, &bytes);
	else
		put_text(&findings, &bytes);
	failed = bytes_finish(&bytes);
	bytes_clear(&bytes);
	return failed || fflush(stdout) != 0 ? EXIT_CLASS_RUNTIME : exit_code(&findings);
}
