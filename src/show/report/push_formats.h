/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats that engines receive (docs/fleet.md) and no file has, so that --format does not list
 * them. The third is pprof's, of report/formats.h.
 */
#ifndef STACKTALLY_REPORT_PUSH_FORMATS_H
#define STACKTALLY_REPORT_PUSH_FORMATS_H

#include "report/writer.h"

/* push.v1.PushRequest of Grafana Pyroscope: a gzipped pprof profile for each service. */
extern const struct writer pyroscope_writer;

/* ExportProfilesServiceRequest of OTLP, gzipped. Its schema is not stable: see otlp_wire.h. */
extern const struct writer otlp_writer;

#endif
