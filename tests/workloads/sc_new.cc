// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes 1,000 objects and strings of which one in ten is not deleted, and prints what is left, as
 * sc_leaks does: an object has 32 bytes, and its text 101.
 */
#include <cstdio>
#include <string>

struct Order {
	std::string name;
};

static Order *volatile kept;

extern "C" [[gnu::noipa]] void mn_orders()
{
	for (int i = 0; i < 1000; i++) {
		Order *order = new Order{ std::string(100, 'x') };

		if (i % 10 == 9)
			kept = order;
		else
			delete order;
	}
}

extern "C" [[gnu::noipa]] void mn_array()
{
	int *volatile numbers = new int[1000];
	int *volatile gone = new int[1000];

	delete[] gone;
	(void)numbers;
}

int main()
{
	mn_orders();
	mn_array();
	std::printf("mn_orders 200 13300\nmn_array 1 4000\n");
	return 0;
}
