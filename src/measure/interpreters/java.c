// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Java, by the HotSpot virtual machine. libjvm describes its own structures in tables that it
 * exports; most of them are filled when it is loaded, so only where they are is a property of the
 * file. What they say is read from each process (interpreters/java_machine.h).
 */
#include "interpreters/languages.h"

#include "elf/elf_exports.h"

static int read_java(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export exports[JAVA_N_EXPORTS] = {
		[JAVA_STRUCTS] = { .name = "gHotSpotVMStructs" },
		[JAVA_STRUCTS_STRIDE] = { .name = "gHotSpotVMStructEntryArrayStride" },
		[JAVA_STRUCTS_TYPE] = { .name = "gHotSpotVMStructEntryTypeNameOffset" },
		[JAVA_STRUCTS_FIELD] = { .name = "gHotSpotVMStructEntryFieldNameOffset" },
		[JAVA_STRUCTS_STATIC] = { .name = "gHotSpotVMStructEntryIsStaticOffset" },
		[JAVA_STRUCTS_OFFSET] = { .name = "gHotSpotVMStructEntryOffsetOffset" },
		[JAVA_STRUCTS_ADDRESS] = { .name = "gHotSpotVMStructEntryAddressOffset" },
		[JAVA_TYPES] = { .name = "gHotSpotVMTypes" },
		[JAVA_TYPES_STRIDE] = { .name = "gHotSpotVMTypeEntryArrayStride" },
		[JAVA_TYPES_NAME] = { .name = "gHotSpotVMTypeEntryTypeNameOffset" },
		[JAVA_TYPES_SIZE] = { .name = "gHotSpotVMTypeEntrySizeOffset" },
	};
	int r = elf_exports_find(elf, exports, JAVA_N_EXPORTS);

	if (r < 0 || !exports[JAVA_STRUCTS].address)
		return r;
	ret_interpreter->language = LANGUAGE_JAVA;
	for (uint32_t i = 0; i < JAVA_N_EXPORTS; i++) {
		if (!exports[i].address || exports[i].address > UINT32_MAX)
			ret_interpreter->refused = WIRE_SCRIPT_DISAGREES;
		ret_interpreter->java.exports[i] = (uint32_t)exports[i].address;
	}
	return 0;
}

const struct language_reader language_java = {
	.exports = LANGUAGE_EXPORTS("gHotSpotVMStructs"),
	.file_name = "libjvm",
	.program = "java",
	.read = read_java,
};
