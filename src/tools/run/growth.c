// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/growth.h"

#include "base/own.h"
#include "cli/message.h"
#include "report/function_rows.h"
#include "view/frame_text.h"
#include "view/function_list.h"

#define MOST_LINES 20

static double grown(uint64_t now, uint64_t base, double all)
{
	return 100 * ((double)now - (double)base) / all;
}

static bool is_more(const struct function_row *row, double all, double percent)
{
	return grown(row->self, row->base_self, all) > percent ||
	       grown(row->total, row->base_total, all) > percent;
}

static void tell(const struct function_row *row, double all)
{
	const char *module = row->is->module;
	bool bare = module && module[0] != '['; /* as "[kernel]" is not */

	message_line("%+.1f %% self, %+.1f %% total: %s%s%s%s",
		     grown(row->self, row->base_self, all), grown(row->total, row->base_total, all),
		     frame_text_name(row->is),
		     bare     ? " ["
		     : module ? " "
			      : "",
		     module ? module : "", bare ? "]" : "");
}

static void tell_all(const struct function_list *list, double all, double percent, uint32_t *ret_n)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (is_more(&list->rows[i], all, percent))
			n++;
	if (n)
		message_line("more than %g %% of all samples were added to %u function%s:", percent,
			     n, n == 1 ? "" : "s");
	*ret_n = n;
	n = 0;
	for (uint32_t i = 0; i < list->n && n < MOST_LINES; i++)
		if (is_more(&list->rows[i], all, percent) && ++n)
			tell(&list->rows[i], all);
	if (*ret_n > n)
		message_line("... and %u more", *ret_n - n);
}

int growth_tell(const struct report *report, double percent, bool *ret_grew)
{
	own(profile_clear) struct profile profile = { 0 }, base = { 0 };
	own(function_list_clear) struct function_list list = { 0 };
	uint32_t view = function_rows_view(report->options), n;
	double all;
	int r = report_build(report, view | report_options_hidden(report->options), &profile,
			     &base);

	if (r == 0)
		r = function_list_make(&profile, &list);
	if (r < 0)
		return r;
	function_list_sort(&list, FUNCTIONS_BY_SELF_CHANGE);
	all = (double)scale_count(&profile.base_scale, base.total);
	if (all < 1)
		all = (double)profile.total;
	tell_all(&list, all, percent, &n);
	*ret_grew = n > 0;
	return 0;
}
