// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* Exceptions through several frames, with clean-ups, rethrown, caught by type. */
#include <stdexcept>
#include <string>

extern "C" {
#include "case.h"
}

struct cleanup {
	long n;
	~cleanup()
	{
		sink = sink + n;
	}
};

static NOINLINE void thrower(int n)
{
	cleanup first{ n };

	if (n == 0)
		throw std::runtime_error("out");
	thrower(n - 1);
	sink = sink + n;
}

static NOINLINE void rethrower()
{
	cleanup second{ 5 };

	try {
		thrower(2);
	} catch (const std::logic_error &) {
		sink = sink + 1;
	} catch (...) {
		throw;
	}
}

int main()
{
	take_signals();
	try {
		rethrower();
	} catch (const std::exception &e) {
		sink = sink + std::string(e.what()).size();
	}
	return 0;
}
