/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of tracepoints, as tracefs describes their records: values of events. Those of several
 * tracepoints have the fields that all of them have in the same place.
 */
#ifndef STACKTALLY_TRIGGER_TRACEPOINT_FIELDS_H
#define STACKTALLY_TRIGGER_TRACEPOINT_FIELDS_H

#include "trigger/listing.h"
#include "trigger/value_list.h"

/* `names` are "category:event" each, at least one. 0 or a negative errno with `err` set. */
int tracepoint_fields_read(const char *const *names, uint32_t n, struct value_list *ret_fields,
			   struct error *err);

/* Tells the fields of an event, "category:event", and its print format: for -l. */
int tracepoint_fields_list(const char *name, const struct listing *listing, struct error *err);

/*
 * The field that a line of a format file describes. `category`: of the event, which says what
 * pointers point to. False: it describes none, or none that is a number or a string.
 */
bool tracepoint_field_parse(const char *line, const char *category, char *ret_name, size_t size,
			    struct event_value *ret_value);

#endif
