// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program `shop`, which is kept in the tree: its places and stacks are then the same
 * everywhere. It sells five articles, each for a price of its own.
 *
 *	gcc -O1 -nostdlib -static -fcf-protection=none -fno-stack-protector \
 *		-Wl,-z,noseparate-code,--build-id=none -o shop shop.c && objcopy -R .comment shop
 */
#include <sys/sdt.h>

__attribute__((noipa)) int shop_sell(int article, long price)
{
	DTRACE_PROBE2(shop, sold, article, price);
	return article + (int)price;
}

__attribute__((noipa)) void shop_open(void)
{
	DTRACE_PROBE(shop, opened);
}

__attribute__((noipa)) void serve(void)
{
	for (int article = 1; article <= 5; article++) {
		shop_sell(article, 1000L * article);
		__asm__ volatile("");
	}
}

__attribute__((used, noipa)) static void run(void)
{
	shop_open();
	serve();
	__asm__ volatile("mov $60, %eax; xor %edi, %edi; syscall");
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	call run\n"
	"	hlt\n"
	".cfi_endproc\n"
	".size _start, . - _start\n");
