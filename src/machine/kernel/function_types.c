// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/function_types.h"

#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

/* Types that modify another, one in another. */
#define MODIFIERS_MAX 16

static void own_btf(struct btf **btf)
{
	btf__free(*btf);
}

/* The type behind typedefs and the like; notes whether it is a size. NULL: there is none. */
static const struct btf_type *resolve(const struct btf *btf, uint32_t id, bool *ret_is_size)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	for (int i = 0; type && i < MODIFIERS_MAX; i++) {
		if (!btf_is_mod(type) && !btf_is_typedef(type))
			return type;
		if (btf_is_typedef(type) && ret_is_size) {
			const char *name = btf__name_by_offset(btf, type->name_off);

			*ret_is_size |= name && (strcmp(name, "size_t") == 0 ||
						 strcmp(name, "ssize_t") == 0);
		}
		type = btf__type_by_id(btf, type->type);
	}
	return NULL;
}

static bool points_to_characters(const struct btf *btf, const struct btf_type *pointer)
{
	const struct btf_type *to = pointer->type ? resolve(btf, pointer->type, NULL) : NULL;
	const char *name = to ? btf__name_by_offset(btf, to->name_off) : NULL;

	return name && btf_is_int(to) && to->size == 1 && strcmp(name, "char") == 0;
}

/* False: it is no number and no address. */
static bool describe(const struct btf *btf, const struct btf_param *from,
		     struct kernel_parameter *ret)
{
	const char *name = btf__name_by_offset(btf, from->name_off);
	struct kernel_parameter is = { 0 };
	const struct btf_type *type = resolve(btf, from->type, &is.is_size);

	if (!type || !name || !*name || strlen(name) >= sizeof(is.name))
		return false;
	if (btf_is_ptr(type)) {
		is.size = sizeof(uint64_t);
		is.is_string = points_to_characters(btf, type);
	} else if (btf_is_int(type)) {
		is.size = type->size;
		is.is_signed = btf_int_encoding(type) & BTF_INT_SIGNED;
	} else if (btf_is_any_enum(type)) {
		is.size = type->size;
		is.is_signed = true;
	}
	snprintf(is.name, sizeof(is.name), "%s", name);
	*ret = is;
	return is.size == 1 || is.size == 2 || is.size == 4 || is.size == 8;
}

uint32_t kernel_function_parameters(const char *function,
				    struct kernel_parameter ret_list[KERNEL_PARAMETERS_MAX])
{
	__attribute__((cleanup(own_btf))) struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	const struct btf_param *from;
	uint32_t n = 0;
	int id;

	if (libbpf_get_error(btf)) {
		btf = NULL;
		return 0;
	}
	id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type))
		return 0;
	from = btf_params(type);
	while (n < btf_vlen(type) && n < KERNEL_PARAMETERS_MAX &&
	       describe(btf, &from[n], &ret_list[n]))
		n++;
	return n;
}
