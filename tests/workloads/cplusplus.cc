// SPDX-License-Identifier: GPL-2.0-or-later
// cplusplus MS: names that must be demangled.
#include "burn.h"

namespace shop
{
template <typename T> struct Basket {
	__attribute__((noinline)) void weigh(T ns) const;
	__attribute__((noinline)) ~Basket();
};

template <typename T> void Basket<T>::weigh(T ns) const
{
	burn(ns);
}

template <typename T> Basket<T>::~Basket()
{
}

__attribute__((noinline)) bool operator<(const Basket<unsigned long> &basket, uint64_t ns)
{
	basket.weigh(ns);
	return true;
}
} // namespace shop

int main(int argc, char **argv)
{
	shop::Basket<unsigned long> basket;

	say_ready();
	return basket < ns_argument(argc, argv, 1) ? 0 : 1;
}
