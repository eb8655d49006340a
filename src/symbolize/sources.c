/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/sources.h"

#include "cfi/function_starts.h"

#define ELEMENT(find) find,

file_source *const sources_of_files[] = { FILE_SOURCES(ELEMENT) NULL };
process_source *const sources_of_processes[] = { PROCESS_SOURCES(ELEMENT) NULL };
