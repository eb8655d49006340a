// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/eh_pointer.h"

bool eh_pointer_read(struct byte_reader *reader, uint8_t encoding, uint64_t address,
		     uint64_t *ret_value)
{
	uint64_t value;

	switch (EH_PE_FORMAT(encoding)) {
	case EH_PE_ABSPTR:
	case EH_PE_UDATA8:
	case EH_PE_SDATA8:
		value = read_u64(reader);
		break;
	case EH_PE_ULEB128:
		value = read_uleb(reader);
		break;
	case EH_PE_UDATA2:
		value = read_u16(reader);
		break;
	case EH_PE_UDATA4:
		value = read_u32(reader);
		break;
	case EH_PE_SLEB128:
		value = (uint64_t)read_sleb(reader);
		break;
	case EH_PE_SDATA2:
		value = (uint64_t)(int16_t)read_u16(reader);
		break;
	case EH_PE_SDATA4:
		value = (uint64_t)(int32_t)read_u32(reader);
		break;
	default:
		return false;
	}
	switch (encoding & 0xf0) {
	case 0:
		break;
	case EH_PE_PCREL:
		value += address;
		break;
	default:
		return false;
	}
	*ret_value = value;
	return !reader->failed;
}
