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
static bool describe_type(const struct btf *btf, uint32_t id, struct kernel_parameter *is)
{
	const struct btf_type *type = resolve(btf, id, &is->is_size);

	if (!type)
		return false;
	if (btf_is_ptr(type)) {
		is->size = sizeof(uint64_t);
		is->is_string = points_to_characters(btf, type);
	} else if (btf_is_int(type)) {
		is->size = type->size;
		is->is_signed = btf_int_encoding(type) & BTF_INT_SIGNED;
	} else if (btf_is_any_enum(type)) {
		is->size = type->size;
		is->is_signed = true;
	}
	return is->size == 1 || is->size == 2 || is->size == 4 || is->size == 8;
}

static bool describe(const struct btf *btf, const struct btf_param *from,
		     struct kernel_parameter *ret)
{
	const char *name = btf__name_by_offset(btf, from->name_off);
	struct kernel_parameter is = { 0 };

	if (!name || !*name || strlen(name) >= sizeof(is.name) ||
	    !describe_type(btf, from->type, &is))
		return false;
	snprintf(is.name, sizeof(is.name), "%s", name);
	*ret = is;
	return true;
}

/* The prototype of a function; NULL: it is not known. */
static const struct btf_type *prototype(const struct btf *btf, const char *function)
{
	int id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	return type && btf_is_func_proto(type) ? type : NULL;
}

/* NULL: the kernel has none. */
static struct btf *load(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	return libbpf_get_error(btf) ? NULL : btf;
}

uint32_t kernel_function_parameters(const char *function,
				    struct kernel_parameter ret_list[KERNEL_PARAMETERS_MAX])
{
	__attribute__((cleanup(own_btf))) struct btf *btf = load();
	const struct btf_type *type = btf ? prototype(btf, function) : NULL;
	const struct btf_param *from = type ? btf_params(type) : NULL;
	uint32_t n = 0;

	while (type && n < btf_vlen(type) && n < KERNEL_PARAMETERS_MAX &&
	       describe(btf, &from[n], &ret_list[n]))
		n++;
	return n;
}

bool kernel_function_result(const char *function, struct kernel_parameter *ret_result)
{
	__attribute__((cleanup(own_btf))) struct btf *btf = load();
	const struct btf_type *type = btf ? prototype(btf, function) : NULL;
	struct kernel_parameter is = { 0 };

	if (!type || !type->type || !describe_type(btf, type->type, &is))
		return false;
	*ret_result = is;
	return true;
}
