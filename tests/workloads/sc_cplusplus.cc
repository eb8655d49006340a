// SPDX-License-Identifier: GPL-2.0-or-later
// sc_cplusplus N: calls N times each of sc::Meter::count(int), sc::Meter::count(double) and
// sc::Meter::other().
#include <cstdlib>

namespace sc {
volatile unsigned long sink;

struct Meter {
	__attribute__((noipa)) void count(int i) { sink = sink + static_cast<unsigned long>(i); }
	__attribute__((noipa)) void count(double d) { sink = sink + static_cast<unsigned long>(d); }
	__attribute__((noipa)) void other() { sink = sink + 1; }
};
} // namespace sc

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
	sc::Meter meter;

	for (unsigned long i = 0; i < n; i++) {
		meter.count(1);
		meter.count(1.0);
		meter.other();
	}
	return 0;
}
