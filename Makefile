# SPDX-License-Identifier: GPL-2.0-or-later
# One BPF object, one program with three names, one build/ tree. `make help` lists the targets.
# Sources and tests are found by pattern: a new file in the right place is all it takes.
# The architecture that is built for, x86_64 or aarch64; another one than this machine's is crossed to.
ARCH ?= $(shell uname -m)
CROSS := $(if $(filter-out $(shell uname -m),$(ARCH)),$(ARCH)-linux-gnu-)
ifeq ($(origin CC),default)
CC := $(CROSS)gcc
endif
ifeq ($(origin CXX),default)
CXX := $(CROSS)g++
endif
ifeq ($(origin AR),default)
AR := $(CROSS)ar
endif
CLANG ?= clang
OBJCOPY ?= $(CROSS)objcopy
CLANG_FORMAT ?= $(firstword $(notdir $(wildcard /usr/bin/clang-format-14)) clang-format)
# Debian's place for it is not on every user's PATH.
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PREFIX ?= /usr/local
BUILD ?= build$(if $(CROSS),-$(ARCH))
# The BPF object and its skeleton; sanitized builds share those of the main build.
KERNEL_BUILD ?= $(BUILD)
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 3600
VM_KERNELS ?= 5.10 6.1 6.12 newest
VERSION := 0.1.0
DEB_SUITES ?= bookworm trixie sid
UNIT_SUITES ?= bookworm trixie

ifeq ($(V),1)
Q :=
say :=
else
Q := @
say = @printf '  %-8s %s\n' $(1) $(2);
endif

# Use all CPUs, unless -j is given. Recursive calls share the jobs of the outer one.
ifeq ($(MAKELEVEL),0)
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
endif

BPF_ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(ARCH)))
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Werror
CFLAGS ?= -O2 -g
# Sources name headers by room and file; rooms lie in src/ and in its wings (scripts/rooms.txt).
WINGS := $(sort $(patsubst %/,%,$(dir $(patsubst %/,%,$(dir \
	$(filter-out src/arch/%,$(wildcard src/*/*/*.h)))))))
SOURCE_DIRS := -Isrc $(WINGS:%=-I%)
SANITIZE :=
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -DSTACKTALLY_VERSION='"$(VERSION)"' $(WARNINGS) $(CFLAGS) \
	$(SANITIZE) $(SOURCE_DIRS) -I. -I$(BUILD) -I$(KERNEL_BUILD)
BPF_CFLAGS := -g -O2 -target bpf -mcpu=v2 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Werror \
	-Wno-missing-declarations -Wno-unknown-warning-option -Wno-default-const-init-var-unsafe \
	$(SOURCE_DIRS) -I$(KERNEL_BUILD) -idirafter /usr/include/$(MULTIARCH) $(BPF_DEFINES)
# BTF names sources, and is part of the program, which is to be the same wherever it is built. Not among
# the flags above: a tree that has moved has nothing to build again.
BPF_PATHS = '-ffile-prefix-map=$(CURDIR)=.'
# The commands are static, libc too: they run on any distribution, and user probes on libc's
# functions do not fire in them. The static libraries of elfutils 0.192 (Debian 13) are incomplete:
# there, as in tests and under sanitizers, shared libraries are used.
STATIC_ELF := $(shell t=$$(mktemp) && echo 'int elf_begin(void); int main(void) { elf_begin(); }' | \
	$(CC) -w -x c - -o $$t -Wl,-Bstatic -lelf -lz -lzstd -Wl,-Bdynamic 2>/dev/null && echo yes; \
	rm -f $$t)
LDLIBS := -Wl,-Bstatic -lbpf $(if $(STATIC_ELF),-ldw -lelf) -liberty -lunistring -lz -llzma -lbz2 -lzstd \
	-lmbedtls -lmbedx509 -lmbedcrypto \
	-Wl,-Bdynamic $(if $(STATIC_ELF),,-ldw -lelf) -lpthread
COMMAND_LDLIBS := $(if $(and $(STATIC_ELF),$(if $(SANITIZE),,yes)),-static $(filter-out -Wl%,$(LDLIBS)),$(LDLIBS))

# Demanglers of libraries, whose calls for memory, and those that end the process, become calls of
# src/symbolize/demangle_foreign.c: LLVM's for C++, the newest that is installed, and libiberty's for D.
CXXABI ?= $(lastword $(shell ls -v $(if $(CROSS),/usr/local/lib/$(ARCH)-linux-gnu,/usr/lib/llvm-*/lib)/libc++abi.a \
	2>/dev/null))
IBERTY := $(shell $(CC) -print-file-name=libiberty.a)
FOREIGN_OBJECTS := $(BUILD)/foreign/cxa_demangle.cpp.o $(BUILD)/foreign/d-demangle.o
FOREIGN_NAMES := __cxa_demangle dlang_demangle malloc xmalloc realloc xrealloc free _ZdlPvm abort abort_message \
	__abort_message _ZSt9terminatev __cxa_begin_catch _Unwind_Resume __gxx_personality_v0 \
	_ZTVN10__cxxabiv117__class_type_infoE _ZTVN10__cxxabiv120__si_class_type_infoE

COMMANDS := profile stackcount
# One program has the names of all commands, by hard links: files can have capabilities, links cannot.
MAIN := src/tools/commands/main.c
SOURCES := $(wildcard src/*/*.c src/*/*/*.c)
CORE := $(filter-out $(MAIN) %.bpf.c,$(SOURCES))
CORE_OBJECTS := $(CORE:%.c=$(BUILD)/%.o)
BPF_OBJECTS := $(patsubst %.c,$(KERNEL_BUILD)/%.o,$(filter %.bpf.c,$(SOURCES)))
INTERPRETED := $(KERNEL_BUILD)/src/in_kernel/languages/interpreted.bpf.o
SKELETON := $(KERNEL_BUILD)/stacktally.skel.h $(KERNEL_BUILD)/interpreted.skel.h
UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
# Programs that tests measure. lib*.c is a shared library; a line `cflags: ...` in a source adds
# compiler flags.
RUSTC := $(shell command -v rustc 2>/dev/null)
JAVAC := $(shell command -v javac 2>/dev/null)
WORKLOAD_LIBS := $(wildcard tests/workloads/lib*.c)
WORKLOAD_SOURCES := $(filter-out $(WORKLOAD_LIBS),$(wildcard tests/workloads/*.c \
	tests/workloads/*.cc tests/workloads/*/*.c tests/workloads/*/*.cc \
	$(if $(RUSTC),tests/workloads/*.rs)))
WORKLOADS := $(addprefix $(BUILD)/,$(basename $(WORKLOAD_SOURCES)) $(WORKLOAD_LIBS:.c=.so) \
	$(if $(JAVAC),$(patsubst %.java,%.class,$(wildcard tests/workloads/*.java))))
# Compares two walks of kernel stacks; has its own BPF object.
COMPARE := $(BUILD)/tests/walks/kernel/compare
COMPARE_BPF := $(KERNEL_BUILD)/tests/walks/kernel/compare.bpf.o
# Programs that compare walks with true stacks; all other files of the folder are linked into each.
ORACLES := $(addprefix $(BUILD)/tests/walks/oracle/,shadow java_steps)
ORACLE_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(ORACLES:$(BUILD)/%=%.c),\
	$(wildcard tests/walks/oracle/*.c)))
# A walker by tables in memory, for unit tests and oracles.
WALK := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/walks/in_memory/*.c))
# BPF programs read words where they are.
$(BUILD)/tests/walks/in_memory/interpreter.o: override SANITIZE += -fno-sanitize=alignment
# push/ without a measurement, for tests of failing networks.
PUSH_CLIENT := $(BUILD)/tests/push/client
VM_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/vm/*.c))
FORMATTED := $(wildcard src/*/*.[ch] src/*/*/*.[ch] tests/*/*.[ch] tests/walks/*/*.[ch] bench/*.[ch] scripts/*.c)

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all help deps demo test test-all units poisoned test-programs test-vm test-aarch64 test-vm-cpus test-fleet test-runtimes bench asan asan-root fuzz fuzzers soak format lint docs \
	install deb test-deb rpm test-rpm test-unit release test-release image test-image clean

all: $(BUILD)/stacktally $(COMMANDS:%=$(BUILD)/%) ## build the commands: build/profile, build/stackcount and build/stacktally, one program

help: ## list the targets
	@echo 'Targets, with the variables they heed:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
	@echo 'Always: ARCH=aarch64 (this machine), BUILD=DIR (build), V=1 (show the commands), CC= CLANG= BPFTOOL= CFLAGS= LDFLAGS='

deps: ## install what building needs from Debian packages, for ARCH=aarch64 too
	@scripts/install-deps build $(if $(CROSS),cross-$(ARCH))

demo: ## install what is missing, build, and profile a small workload
	@scripts/install-deps build
	+@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)

# ---- flags and sources of the last build: when they change, the objects they affect are rebuilt
remember = $(shell mkdir -p $(dir $(1)); echo '$(subst ','\'',$(2))' | cmp -s - $(1) || \
	echo '$(subst ','\'',$(2))' > $(1))
ifneq ($(filter-out help deps clean format demo deb test-deb release test-release image test-image,$(or $(MAKECMDGOALS),all)),)
$(call remember,$(BUILD)/flags,$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(LDLIBS))
$(call remember,$(BUILD)/members,$(CORE_OBJECTS) $(CXXABI))
$(call remember,$(KERNEL_BUILD)/bpf-flags,$(CLANG) $(BPF_CFLAGS) $(BPF_OBJECTS))
endif

# ---- the commit, for --version
COMMIT := $(BUILD)/commit.h
ifneq ($(filter-out help deps clean format demo deb test-deb release test-release image test-image,$(or $(MAKECMDGOALS),all)),)
$(call remember,$(COMMIT),#define STACKTALLY_COMMIT "$(shell scripts/commit id)")
endif
$(BUILD)/src/tools/cli/version.o: $(COMMIT)

# ---- the headers of each language, for the list of languages
LANGUAGE_HEADERS := $(KERNEL_BUILD)/language_structs.h $(KERNEL_BUILD)/language_hooks.h
EACH_LANGUAGE = sed -n 's,^.LANGUAGE([A-Z0-9_]*\, \([a-z0-9_]*\)\,.*,\#include "$(1)",p' src/in_kernel/bpf/languages.h
$(LANGUAGE_HEADERS) &: src/in_kernel/bpf/languages.h
	@mkdir -p $(@D)
	$(Q)$(call EACH_LANGUAGE,bpf/\1_language.h) > $(KERNEL_BUILD)/language_structs.h
	$(Q)$(call EACH_LANGUAGE,languages/\1.bpf.h) > $(KERNEL_BUILD)/language_hooks.h

# ---- BPF
$(BPF_OBJECTS) $(COMPARE_BPF): $(KERNEL_BUILD)/%.o: %.c $(KERNEL_BUILD)/bpf-flags | $(LANGUAGE_HEADERS)
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(CLANG) $(BPF_CFLAGS) $(BPF_PATHS) -MMD -MP -c $< -o $@

$(KERNEL_BUILD)/stacktally.bpf.o: $(filter-out $(INTERPRETED),$(BPF_OBJECTS))
$(KERNEL_BUILD)/interpreted.bpf.o: $(INTERPRETED)
$(KERNEL_BUILD)/stacktally.bpf.o $(KERNEL_BUILD)/interpreted.bpf.o: $(KERNEL_BUILD)/bpf-flags
	$(call say,LINK,$@)$(BPFTOOL) gen object $@ $(filter %.o,$^)

$(SKELETON): $(KERNEL_BUILD)/%.skel.h: $(KERNEL_BUILD)/%.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name $* > $@

# ---- user space
# The first build needs the skeleton before these objects; later dependency files say so.
$(filter $(BUILD)/src/measure/%,$(CORE_OBJECTS)) $(UNIT_TESTS:=.o): | $(SKELETON)

$(BUILD)/%.o: %.c $(BUILD)/flags | $(LANGUAGE_HEADERS)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
	$(if $(KEPT_NAMES),$(Q)$(OBJCOPY) -w --keep-global-symbol='$(KEPT_NAMES)' $@)

# The BPF programs' walks, compiled for user space: their names stay in their object, and they read words
# where they are.
USER_WALK := $(BUILD)/src/measure/user_walk/user_walk.o
$(USER_WALK): KEPT_NAMES := user_walk_*
$(USER_WALK): override CFLAGS += -fno-strict-aliasing
$(USER_WALK): override SANITIZE += -fno-sanitize=alignment

# The commands contain the page of .html reports and the script of .svg reports. The page's policy
# allows only its own script and style, by their hashes.
PAGE_SCRIPTS := $(patsubst %,src/show/flame/page/%.js,data colour label tree waits edits panel functions parts timeline times menu saved address app)
PAGE_LANGUAGES := src/show/flame/page/languages.js.in
PAGE := $(KERNEL_BUILD)/page_hashes.h
$(PAGE): $(PAGE_LANGUAGES) src/in_kernel/bpf/languages.h $(PAGE_SCRIPTS) src/show/flame/page/page.css scripts/page-hashes
	@mkdir -p $(@D)
	$(call say,PAGE,$@)(echo '"use strict";' && $(CC) -E -P $(SOURCE_DIRS) -x c $(PAGE_LANGUAGES) && \
		cat $(PAGE_SCRIPTS)) > $(KERNEL_BUILD)/page.js && \
		scripts/page-hashes $(KERNEL_BUILD)/page.js src/show/flame/page/page.css > $@
$(filter $(BUILD)/src/show/flame/page_%,$(CORE_OBJECTS)): | $(PAGE)
$(BUILD)/src/show/flame/page_files.o: $(wildcard src/show/flame/page/*) $(PAGE)
$(BUILD)/src/show/flame/page_shell.o: $(PAGE)
$(BUILD)/src/show/live/routes.o: $(wildcard src/show/live/page/*)
$(BUILD)/src/tools/commands/manual.o: $(wildcard src/tools/commands/manual/*)

$(BUILD)/foreign/cxa_demangle.cpp.o: FROM = $(or $(CXXABI),$(error no libc++abi.a: `make deps` installs it))
$(BUILD)/foreign/d-demangle.o: FROM = $(IBERTY)
$(FOREIGN_OBJECTS): $(BUILD)/members
	@mkdir -p $(@D)
	$(call say,COPY,$@)cd $(@D) && $(AR) x $(FROM) $(@F) && \
		$(OBJCOPY) $(foreach name,$(FOREIGN_NAMES),--redefine-sym $(name)=foreign_$(name)) $(@F)

$(BUILD)/libcore.a: $(CORE_OBJECTS) $(FOREIGN_OBJECTS) $(BUILD)/members
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $(CORE_OBJECTS) $(FOREIGN_OBJECTS)

$(BUILD)/stacktally: $(MAIN:%.c=$(BUILD)/%.o) $(BUILD)/libcore.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(COMMAND_LDLIBS) -o $@

$(COMMANDS:%=$(BUILD)/%): $(BUILD)/stacktally
	$(Q)ln -f $< $@

# ---- tests
$(UNIT_TESTS): %: %.o $(WALK) $(BUILD)/libcore.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -lcmocka $(LDLIBS) -o $@

$(FUZZERS): %: %.o $(BUILD)/libcore.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(LDFLAGS) $^ $(LDLIBS) -o $@

$(BUILD)/tests/vm/init: LDFLAGS += -static
$(VM_PROGRAMS): %: %.o
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(if $(filter %/init,$@),,$(LDLIBS)) -o $@

$(ORACLES): %: %.o $(ORACLE_OBJECTS) $(WALK) $(BUILD)/libcore.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(PUSH_CLIENT): %: %.o $(BUILD)/libcore.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(KERNEL_BUILD)/compare.skel.h: $(COMPARE_BPF)
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name compare > $@
$(COMPARE).o: | $(KERNEL_BUILD)/compare.skel.h
$(COMPARE): %: %.o $(BUILD)/libcore.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

own_flags = $$(sed -n 's/^.*cflags: *//p' $<)
WORKLOAD_CFLAGS := -O0 -g -fno-omit-frame-pointer -D_GNU_SOURCE
$(BUILD)/tests/workloads/%.so: tests/workloads/%.c
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CC) $(WORKLOAD_CFLAGS) -fPIC -shared -MMD -MP $< -o $@ $(own_flags)

$(BUILD)/tests/workloads/%: tests/workloads/%.c
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CC) $(WORKLOAD_CFLAGS) -MMD -MP $< -o $@ $(own_flags) -lpthread -ldl

$(BUILD)/tests/workloads/%: tests/workloads/%.cc
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CXX) $(WORKLOAD_CFLAGS) -MMD -MP $< -o $@ $(own_flags) -lpthread -ldl

$(BUILD)/tests/workloads/%: tests/workloads/%.rs
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)env -u MAKEFLAGS $(RUSTC) -g -C force-frame-pointers=yes -o $@ $< $(own_flags)

$(BUILD)/tests/workloads/%.class: tests/workloads/%.java
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(JAVAC) -d $(@D) $<

# Newer releases of Go compile pprof when it is first asked for: once here, not in each test.
PPROF := $(if $(shell command -v go),$(BUILD)/go-cache/has-pprof)
$(PPROF):
	@mkdir -p $(@D)
	$(call say,GO,pprof)GOCACHE=$(abspath $(@D)) go tool pprof -h >$@ 2>&1 || true

units: $(UNIT_TESTS)
test-programs: units poisoned $(WORKLOADS) $(VM_PROGRAMS) $(ORACLES) $(COMPARE) $(PUSH_CLIENT) $(PPROF)

poisoned: ## the commands with BPF programs that overwrite the scratch between walks (src/in_kernel/bpf/poison.bpf.h)
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/poisoned KERNEL_BUILD=$(BUILD)/poisoned \
		MULTIARCH=$(MULTIARCH) BPF_DEFINES=-DPOISON_SCRATCH all

# The same sources under sanitizers, each in its own build directory below this one.
ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
twin = +@$(MAKE) --no-print-directory BUILD=$(BUILD)/$(1) KERNEL_BUILD=$(KERNEL_BUILD) \
	MULTIARCH=$(MULTIARCH) CFLAGS='-O1 -g'
BUILD_ASAN = $(call twin,asan) SANITIZE='$(ASAN)' units
# clang's warnings differ from gcc's, so they are not errors here.
BUILD_FUZZ = $(call twin,fuzz) CC=$(CLANG) WARNINGS='-Wall -Wextra' \
	SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' fuzzers

fuzzers: $(FUZZERS)

test: ## install what is missing, build, and run tests of every kind that this kernel allows
	@scripts/install-deps build test
	+@$(MAKE) --no-print-directory all test-programs
	$(BUILD_ASAN)
	$(BUILD_FUZZ)
	@tests/run --again 1 --slowest 10 $(BUILD)

test-all: ## all tests that this kernel allows: more releases of interpreters, whole builds, every program of the machine
	@scripts/install-deps build test
	+@$(MAKE) --no-print-directory all test-programs
	$(BUILD_ASAN)
	$(BUILD_FUZZ)
	@tests/run --again 2 --slowest 20 --all --fuzz-seconds 2 $(BUILD)

test-vm: ## the same for the root tests on stock Debian kernels, VM_KERNELS="5.10 6.1 6.12 newest", VM_TESTS=part,of,names
	@scripts/install-deps build test vm
	+@$(MAKE) --no-print-directory all test-programs
	@tests/vm/run $(VM_KERNELS:%=-k %) -m "$(VM_TESTS)" $(BUILD)

test-aarch64: ## cross to aarch64, and compare the rows of files of aarch64
	@scripts/install-deps build test cross-aarch64
	+@$(MAKE) --no-print-directory all
	+@$(MAKE) --no-print-directory ARCH=aarch64 BUILD=build-aarch64 KERNEL_BUILD=build-aarch64 all
	@tests/run --only cli --match aarch64 $(BUILD)

test-vm-cpus: ## tests in emulated machines with 64 CPUs, with CPUs that are added, that sleep, and with NMIs on four CPUs
	@scripts/install-deps build test vm
	+@$(MAKE) --no-print-directory all test-programs
	@tests/vm/run -k 6.1 --cpus 64 --append "isolcpus=60-63 nohz_full=60-63" -m many_cpus $(BUILD)
	@tests/vm/run -k 6.1 --spare 2 -m cpus_change $(BUILD)
	@tests/vm/run -k 6.1 $(BUILD) -- bash tests/vm/suspend.sh $(BUILD) almost
	@tests/vm/run -k 6.1 --packed $(BUILD) -- bash tests/vm/suspend.sh $(BUILD) off
	@tests/vm/run -k 6.1 --cpus 4 -m stackcount_nmi $(BUILD)

asan: $(SKELETON) ## the unit tests under address and undefined behaviour sanitizers
	$(BUILD_ASAN)
	@tests/run --only asan $(BUILD)

# Reports go to files, because some tests discard stderr.
asan-root: test-programs ## the root tests with both commands under those sanitizers, ROOT_TESTS=part,of,names
	$(call twin,asan) SANITIZE='$(ASAN)' all
	@mkdir -p $(BUILD)/asan/tests $(BUILD)/asan/reports && rm -f $(BUILD)/asan/reports/*
	@ln -sfn ../../tests/workloads $(BUILD)/asan/tests/workloads
	@ln -sfn ../../tests/vm $(BUILD)/asan/tests/vm
	@ASAN_OPTIONS=log_path=$(abspath $(BUILD))/asan/reports/report:log_exe_name=1 \
		tests/run --only root --slow 3 --match "$(ROOT_TESTS)" $(BUILD)/asan; status=$$?; \
		tail -n 40 $(BUILD)/asan/reports/* 2>/dev/null && status=1; exit $$status

fuzz: $(SKELETON) ## run every fuzz target for FUZZ_SECONDS=60 each
	$(BUILD_FUZZ)
	@tests/run --only fuzz --fuzz-seconds $(FUZZ_SECONDS) $(BUILD)

soak: ## measure for SOAK_SECONDS=3600 on a machine that keeps changing
	@scripts/install-deps build test
	+@$(MAKE) --no-print-directory all test-programs
	@tests/soak/soak --seconds $(SOAK_SECONDS) $(BUILD)

test-fleet: ## send to real engines and ask them what they have (docs/fleet.md); COLLECTOR=, PYROSCOPE=, PARCA= name programs
	@scripts/install-deps build test
	+@$(MAKE) --no-print-directory all test-programs
	@COLLECTOR="$(COLLECTOR)" PYROSCOPE="$(PYROSCOPE)" PARCA="$(PARCA)" tests/fleet/run $(BUILD)

test-runtimes: ## functions of programs in some forty versions and builds of interpreters, RUNTIMES=part,of,names
	@scripts/install-deps build test
	+@$(MAKE) --no-print-directory all
	@tests/runtimes/run $(BUILD) "$(RUNTIMES)"

bench: ## measure against perf and bpftrace, all or CASES=name,name of bench/run --help
	@scripts/install-deps build bench
	+@$(MAKE) --no-print-directory all test-programs
	@if [ -x bench/run ]; then bench/run --only "$(CASES)" $(BUILD); else echo 'no bench/run' >&2; exit 1; fi

# ---- upkeep
format: ## put all C sources into the project's style
	$(Q)$(CLANG_FORMAT) -i $(FORMATTED)

# False positives: cppcheck does not know the cleanup attribute.
CPPCHECK_BLIND := missingIncludeSystem memleak resourceLeak

lint: $(SKELETON) $(PAGE) ## clang-tidy and cppcheck over the user side
	@scripts/install-deps lint
	$(Q)printf '%s\n' $(CORE) $(MAIN) | xargs -P $$(nproc) -I{} \
		clang-tidy --quiet {} -- $(filter-out -W%,$(ALL_CFLAGS))
	$(Q)cppcheck -q -j$$(nproc) --std=c11 --enable=warning,performance,portability --inline-suppr \
		--error-exitcode=1 $(CPPCHECK_BLIND:%=--suppress=%) $(SOURCE_DIRS) $(CORE) $(MAIN)

docs: all ## write the man pages, completions and the include law, and the table of kernels if make test-vm has run
	$(Q)scripts/rooms draw > $(BUILD)/rooms.md && sed -i -e '/^<!-- rooms: /r $(BUILD)/rooms.md' \
		-e '/^<!-- rooms: /,/^<!-- end of rooms -->/{/^<!-- /!d}' ARCHITECTURE.md
	$(Q)set -e; for c in $(COMMANDS); do \
		$(BUILD)/$$c --print-man > docs/$$c.8; \
		$(BUILD)/$$c --print-completion > docs/completions/$$c; \
		$(BUILD)/$$c --print-completion-zsh > docs/completions/zsh/_stacktally_$$c; \
		$(BUILD)/$$c --print-completion-fish > docs/completions/fish/$$c.fish; done
	$(Q)! [ -d $(BUILD)/vm ] || tests/vm/table $(BUILD)/vm docs/kernels.md

INTO = '$(DESTDIR)$(PREFIX)'
# Hard links, of which dpkg and tar make hard links again.
install: all ## install into DESTDIR= PREFIX=/usr/local
	install -d $(INTO)/bin $(INTO)/share/man/man1 $(INTO)/share/man/man8 \
		$(INTO)/share/bash-completion/completions $(INTO)/share/zsh/vendor-completions \
		$(INTO)/share/fish/vendor_completions.d $(INTO)/lib/systemd/system
	install $(BUILD)/stacktally $(INTO)/bin
	for c in $(COMMANDS); do ln -f $(INTO)/bin/stacktally $(INTO)/bin/$$c || exit; done
	install -m 644 docs/stacktally.1 $(INTO)/share/man/man1
	install -m 644 $(COMMANDS:%=docs/%.8) $(INTO)/share/man/man8
	install -m 644 $(COMMANDS:%=docs/completions/%) docs/completions/stacktally \
		$(INTO)/share/bash-completion/completions
	install -m 644 docs/completions/zsh/_stacktally* $(INTO)/share/zsh/vendor-completions
	install -m 644 docs/completions/fish/*.fish $(INTO)/share/fish/vendor_completions.d
	sed 's,/usr/bin/profile,$(PREFIX)/bin/profile,' service/stacktally-profile.service \
		> $(INTO)/lib/systemd/system/stacktally-profile.service
	chmod 644 $(INTO)/lib/systemd/system/stacktally-profile.service
	install -D -m 644 -t $(INTO)/share/stacktally service/90-stacktally.conf
	[ -e '$(DESTDIR)/etc/stacktally/profile.conf' ] || \
		install -D -m 644 service/profile.conf '$(DESTDIR)/etc/stacktally/profile.conf'

# ---- packages: docs/packages.md
deb: ## make BUILD/deb/stacktally_VERSION_amd64.deb, from the tree as it is
	@scripts/install-deps build package
	@scripts/make-deb $(BUILD) $(VERSION)

test-deb: deb ## check the package, and use it in new roots of Debian 12, 13 and sid
	@tests/packages/run --suites "$(DEB_SUITES)" $(BUILD)

rpm: all ## make BUILD/rpm/ARCH/stacktally-VERSION-1.ARCH.rpm
	@scripts/install-deps build rpm
	@scripts/make-rpm $(BUILD) $(VERSION)

test-rpm: rpm ## install, use and remove it in a root that rpm makes
	@tests/packages/rpm $(BUILD)

test-unit: deb $(BUILD)/tests/vm/init ## run the service on Debian machines with systemd, under qemu
	@scripts/install-deps vm package
	@tests/packages/unit --suites "$(UNIT_SUITES)" $(BUILD)

ARCHS ?= $(ARCH)
release: ## make the tarballs of the last commit and their SHA-256 sums: BUILD/release; ARCHS='x86_64 aarch64'
	@scripts/install-deps build $(patsubst %,cross-%,$(filter-out $(shell uname -m),$(ARCHS)))
	@scripts/make-release $(BUILD) $(VERSION) $(ARCHS)

test-release: ## make release in two directories, and compare
	@scripts/install-deps build package
	@tests/packages/release

image: release ## make an OCI image of the last commit's static program, for all of ARCHS=: BUILD/release
	@scripts/install-deps image
	@scripts/make-image $(BUILD) $(VERSION)

test-image: image ## run the image in podman, with and without what docs/containers.md names
	@scripts/install-deps test-image
	@tests/packages/image $(BUILD)

clean: ## remove everything that was built
	rm -rf $(BUILD)

-include $(CORE_OBJECTS:.o=.d) $(MAIN:%.c=$(BUILD)/%.d) $(BPF_OBJECTS:.o=.d) $(COMPARE_BPF:.o=.d) \
	$(UNIT_TESTS:=.d) $(FUZZERS:=.d) $(PUSH_CLIENT:=.d) $(VM_PROGRAMS:=.d) $(ORACLES:=.d) $(COMPARE:=.d) \
	$(ORACLE_OBJECTS:.o=.d) $(WALK:.o=.d) $(addsuffix .d,$(basename $(WORKLOADS)))
