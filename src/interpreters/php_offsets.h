/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Written by scripts/php-offsets from the headers of these versions. */
/* clang-format off */
static const struct php_offsets php_offsets[] = {
	{
		/* 8.2.36 */
		.executor_size = 1800,
		.compiler_size = 568,
		.core_size = 672,
		.sapi_size = 552,
		.current = 488,
		.top = 131072,
		.frame_function = 24,
		.frame_info = 40,
		.frame_previous = 48,
		.function_name = 8,
		.function_scope = 16,
		.function_file = 152,
		.function_line = 160,
		.class_name = 8,
		.string_hash = 8,
		.string_length = 16,
		.string_text = 24,
	},
	{
		/* 8.4.28 */
		.executor_size = 1984,
		.compiler_size = 616,
		.core_size = 616,
		.sapi_size = 648,
		.current = 488,
		.top = 131072,
		.frame_function = 24,
		.frame_info = 40,
		.frame_previous = 48,
		.function_name = 8,
		.function_scope = 16,
		.function_file = 168,
		.function_line = 176,
		.class_name = 8,
		.string_hash = 8,
		.string_length = 16,
		.string_text = 24,
	},
};
/* clang-format on */
