// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/ifunc.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

struct question {
	const struct stat *file;
	const char *name;
	bool answered;
	uint64_t answer;
};

static bool is_within(const struct dl_phdr_info *object, uint64_t address)
{
	for (uint16_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
		    address - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static int ask(struct dl_phdr_info *object, size_t size, void *context)
{
	struct question *question = context;
	struct stat about;
	uint64_t address;
	void *handle;

	(void)size;
	if (!object->dlpi_name || object->dlpi_name[0] != '/' ||
	    stat(object->dlpi_name, &about) < 0 || about.st_dev != question->file->st_dev ||
	    about.st_ino != question->file->st_ino)
		return 0;
	handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return 1;
	address = (uintptr_t)dlsym(handle, question->name) - object->dlpi_addr;
	dlclose(handle);
	question->answered = is_within(object, address);
	question->answer = address;
	return 1;
}

bool ifunc_choice(int fd, const char *name, uint64_t *ret_address)
{
	struct stat file;
	struct question question = { .file = &file, .name = name };

	if (fstat(fd, &file) < 0)
		return false;
	dl_iterate_phdr(ask, &question);
	if (question.answered)
		*ret_address = question.answer;
	return question.answered;
}
