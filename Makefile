# SPDX-License-Identifier: GPL-2.0-or-later
# One BPF object, two commands, one build/ tree. `make help` lists the targets.
CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PREFIX ?= /usr/local
BUILD ?= build
VERSION := 0.1.0

ifeq ($(V),1)
Q :=
say :=
else
Q := @
say = @printf '  %-8s %s\n' $(1) $(2);
endif

ARCH := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
MULTIARCH := $(shell $(CC) -print-multiarch)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Werror
CFLAGS ?= -O2 -g
SANITIZE :=
ALL_CFLAGS := -std=gnu17 -D_GNU_SOURCE -DSTACKTALLY_VERSION='"$(VERSION)"' $(WARNINGS) $(CFLAGS) \
	$(SANITIZE) -Isrc -I$(BUILD)
BPF_CFLAGS := -g -O2 -target bpf -mcpu=v2 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Werror \
	-Wno-missing-declarations -Isrc -idirafter /usr/include/$(MULTIARCH)
# Static where the machine may lack the library, shared where it never does.
LDLIBS := -Wl,-Bstatic -lbpf -ldw -lelf -liberty -lz -llzma -lbz2 -lzstd -Wl,-Bdynamic -ldl -lpthread

COMMANDS := $(patsubst src/%.c,%,$(wildcard src/profile.c src/stackcount.c))
CORE := $(filter-out src/profile.c src/stackcount.c,$(wildcard src/*.c src/[!b]*/*.c src/base/*.c))
CORE_OBJECTS := $(CORE:%.c=$(BUILD)/%.o)
BPF_SOURCES := $(wildcard src/bpf/*.bpf.c)
SKELETON := $(BUILD)/stacktally.skel.h

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all help deps demo test test-vm bench asan fuzz format lint docs install clean

all: $(COMMANDS:%=$(BUILD)/%) ## build the commands

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

# ---- the kernel side
$(BUILD)/src/bpf/%.bpf.o: src/bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/stacktally.bpf.o: $(BPF_SOURCES:%.c=$(BUILD)/%.o)
	$(call say,LINK,$@)$(BPFTOOL) gen object $@ $^

$(SKELETON): $(BUILD)/stacktally.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name stacktally > $@

# ---- user space
$(BUILD)/src/session/%.o: | $(SKELETON)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libcore.a: $(CORE_OBJECTS)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(COMMANDS:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/src/%.o $(BUILD)/libcore.a
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

clean: ## remove everything that was built
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
