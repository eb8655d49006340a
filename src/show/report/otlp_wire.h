/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Field numbers of OTLP's profiles, package opentelemetry.proto.profiles.v1development, as of
 * opentelemetry-proto 1.10, which numbered them anew. The encoding is in pprof_wire.h. Source:
 * profiles.proto, profiles_service.proto, common.proto and resource.proto of
 * github.com/open-telemetry/opentelemetry-proto.
 */
#ifndef STACKTALLY_REPORT_OTLP_WIRE_H
#define STACKTALLY_REPORT_OTLP_WIRE_H

enum otlp_request_field { OTLP_REQUEST_RESOURCE_PROFILES = 1, OTLP_REQUEST_DICTIONARY = 2 };

enum otlp_dictionary_field {
	OTLP_DICTIONARY_MAPPING = 1,
	OTLP_DICTIONARY_LOCATION = 2,
	OTLP_DICTIONARY_FUNCTION = 3,
	OTLP_DICTIONARY_LINK = 4,
	OTLP_DICTIONARY_STRING = 5,
	OTLP_DICTIONARY_ATTRIBUTE = 6,
	OTLP_DICTIONARY_STACK = 7,
};

enum otlp_resource_profiles_field {
	OTLP_RESOURCE_PROFILES_RESOURCE = 1,
	OTLP_RESOURCE_PROFILES_SCOPE = 2
};
enum otlp_resource_field { OTLP_RESOURCE_ATTRIBUTES = 1 };
enum otlp_scope_profiles_field { OTLP_SCOPE_PROFILES_SCOPE = 1, OTLP_SCOPE_PROFILES_PROFILE = 2 };
enum otlp_scope_field { OTLP_SCOPE_NAME = 1, OTLP_SCOPE_VERSION = 2 };

enum otlp_profile_field {
	OTLP_PROFILE_SAMPLE_TYPE = 1,
	OTLP_PROFILE_SAMPLE = 2,
	OTLP_PROFILE_TIME_UNIX_NANO = 3, /* fixed64 */
	OTLP_PROFILE_DURATION_NANO = 4,
	OTLP_PROFILE_PERIOD_TYPE = 5,
	OTLP_PROFILE_PERIOD = 6,
	OTLP_PROFILE_ID = 7, /* 16 bytes */
};

enum otlp_value_type_field { OTLP_VALUE_TYPE_TYPE = 1, OTLP_VALUE_TYPE_UNIT = 2 };
enum otlp_sample_field {
	OTLP_SAMPLE_STACK = 1,
	OTLP_SAMPLE_ATTRIBUTES = 2,
	OTLP_SAMPLE_VALUES = 4
};
enum otlp_stack_field { OTLP_STACK_LOCATIONS = 1 };

enum otlp_location_field {
	OTLP_LOCATION_MAPPING = 1,
	OTLP_LOCATION_ADDRESS = 2,
	OTLP_LOCATION_LINE = 3,
};

enum otlp_line_field { OTLP_LINE_FUNCTION = 1, OTLP_LINE_LINE = 2 };

enum otlp_function_field {
	OTLP_FUNCTION_NAME = 1,
	OTLP_FUNCTION_SYSTEM_NAME = 2,
	OTLP_FUNCTION_FILENAME = 3,
};

enum otlp_mapping_field {
	OTLP_MAPPING_START = 1,
	OTLP_MAPPING_LIMIT = 2,
	OTLP_MAPPING_OFFSET = 3,
	OTLP_MAPPING_FILENAME = 4,
	OTLP_MAPPING_ATTRIBUTES = 5,
};

enum otlp_attribute_field { OTLP_ATTRIBUTE_KEY = 1, OTLP_ATTRIBUTE_VALUE = 2 };
enum otlp_key_value_field { OTLP_KEY_VALUE_KEY = 1, OTLP_KEY_VALUE_VALUE = 2 };
enum otlp_any_value_field { OTLP_ANY_VALUE_STRING = 1, OTLP_ANY_VALUE_INT = 3 };

#endif
