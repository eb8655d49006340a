/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arch_address_bits(): how many bits the addresses of user code have on this machine. What is above
 * them in a saved return address is its signature.
 */
#ifndef STACKTALLY_ARCH_ADDRESS_BITS_H
#define STACKTALLY_ARCH_ADDRESS_BITS_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/address_bits.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/address_bits.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
