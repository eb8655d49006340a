// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Java, by the HotSpot virtual machine. libjvm describes its own structures in tables that it
 * exports; most of them are filled when it is loaded, so only where they are is a property of the
 * file. What they say is read from each process (interpreters/java_machine.h).
 */
#include "interpreters/languages.h"

#include "elf/elf_exports.h"

#define N_SYMBOLS (JAVA_N_EXPORTS + JAVA_N_VARIABLES)

static int read_java(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[N_SYMBOLS] = {
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
		/* Local ones, in C++; before JDK 21 there are none. */
		[JAVA_N_EXPORTS + JAVA_ENTER_RETURN] = { .name = "_ZN17ContinuationEntry10_return_pcE" },
		[JAVA_N_EXPORTS + JAVA_CHUNK_STACK] = {
			.name = "_ZN23InstanceStackChunkKlass16_offset_of_stackE",
		},
		[JAVA_N_EXPORTS + JAVA_CHUNK_SP] = {
			.name = "_ZN26jdk_internal_vm_StackChunk10_sp_offsetE",
		},
		[JAVA_N_EXPORTS + JAVA_CHUNK_BOTTOM] = {
			.name = "_ZN26jdk_internal_vm_StackChunk14_bottom_offsetE",
		},
		[JAVA_N_EXPORTS + JAVA_CHUNK_PARENT] = {
			.name = "_ZN26jdk_internal_vm_StackChunk14_parent_offsetE",
		},
		[JAVA_N_EXPORTS + JAVA_CHUNK_OF] = {
			.name = "_ZN26jdk_internal_vm_StackChunk12_cont_offsetE",
		},
		[JAVA_N_EXPORTS + JAVA_TAIL] = {
			.name = "_ZN28jdk_internal_vm_Continuation12_tail_offsetE",
		},
	};
	int r = elf_exports_find(elf, symbols, N_SYMBOLS);

	if (r < 0 || !symbols[JAVA_STRUCTS].address)
		return r;
	ret_interpreter->language = LANGUAGE_JAVA;
	for (uint32_t i = 0; i < JAVA_N_EXPORTS; i++) {
		if (!symbols[i].address || symbols[i].address > UINT32_MAX)
			ret_interpreter->refused = WIRE_SCRIPT_DISAGREES;
		ret_interpreter->java.exports[i] = (uint32_t)symbols[i].address;
	}
	for (uint32_t i = 0; i < JAVA_N_VARIABLES; i++) {
		uint64_t address = symbols[JAVA_N_EXPORTS + i].address;

		ret_interpreter->java.variables[i] = address <= UINT32_MAX ? (uint32_t)address : 0;
	}
	return 0;
}

const struct language_reader language_java = {
	.exports = LANGUAGE_EXPORTS("gHotSpotVMStructs"),
	.file_name = "libjvm",
	.program = "java",
	.read = read_java,
};
