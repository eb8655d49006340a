/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where to push: the URL of an engine, and the protocol that it names.
 *
 * [PROTOCOL+]http[s]://HOST[:PORT][/PATH], with a protocol of docs/fleet.md: pprof (the default),
 * pyroscope or otlp. A URL without a path gets that of its protocol.
 */
#ifndef STACKTALLY_PUSH_TARGET_H
#define STACKTALLY_PUSH_TARGET_H

#include <stdbool.h>

#include "base/error.h"

enum push_protocol {
	PUSH_PPROF, /* gzipped profile.proto, to the pprof receiver of an OpenTelemetry collector */
	PUSH_PYROSCOPE, /* push.v1.PusherService/Push of Grafana Pyroscope */
	PUSH_OTLP,	/* OTLP/HTTP profiles, gzipped */
	PUSH_N_PROTOCOLS,
};

struct target {
	enum push_protocol protocol;
	bool tls;
	char host[256]; /* a name or an address, IPv6 without brackets */
	char port[6];
	char path[1024]; /* with the query */
};

/* 0, or -EINVAL with a usage error in `err`. */
int target_parse(const char *url, struct target *ret_target, struct error *err);

/* "pprof", "pyroscope", "otlp". */
const char *target_protocol_name(enum push_protocol protocol);

/* Whether the host is this machine, by its address or as "localhost". */
bool target_is_local(const struct target *target);

#endif
