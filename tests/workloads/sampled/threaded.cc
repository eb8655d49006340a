// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
// For ever, threads that come and go: containers, virtual calls, exceptions, locks, regular
// expressions, as C++ programs have them.
#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

struct Shape {
	virtual ~Shape() = default;
	virtual double area(unsigned depth) const = 0;
};

struct Square : Shape {
	explicit Square(double side) : side_(side)
	{
	}
	double area(unsigned depth) const override
	{
		if (depth == 0)
			throw std::runtime_error("too deep");
		return side_ * side_;
	}
	double side_;
};

struct Group : Shape {
	double area(unsigned depth) const override
	{
		double sum = 0;
		for (const auto &part : parts)
			sum += part->area(depth - 1);
		return sum;
	}
	std::vector<std::unique_ptr<Shape>> parts;
};

std::mutex lock;
std::map<std::string, double> results;

void work(unsigned seed)
{
	Group group;
	std::map<std::string, int> words;
	const std::regex pattern("([a-z]+)=([0-9]+)");
	std::function<bool(const std::string &, const std::string &)> less =
		[](const std::string &a, const std::string &b) { return a > b; };
	std::vector<std::string> names;

	for (unsigned i = 0; i < 200; i++) {
		std::ostringstream text;
		text << "key" << seed * i % 1000 << "=" << i;
		names.push_back(text.str());
		words[text.str()]++;
		group.parts.push_back(std::make_unique<Square>(i));
	}
	std::sort(names.begin(), names.end(), less);
	std::smatch match;
	for (unsigned i = 0; i < 20; i++)
		std::regex_search(names[i], match, pattern);
	for (unsigned depth = 0; depth < 3; depth++) {
		try {
			double area = group.area(depth);
			std::lock_guard<std::mutex> guard(lock);
			results[names[0]] = area;
		} catch (const std::exception &error) {
			std::lock_guard<std::mutex> guard(lock);
			results[error.what()] = seed;
		}
	}
}

} // namespace

int main()
{
	for (unsigned round = 0;; round++) {
		std::vector<std::thread> threads;
		for (unsigned i = 0; i < 3; i++)
			threads.emplace_back([round, i] {
				for (unsigned n = 0; n < 20; n++)
					work(round * 7 + i + n);
			});
		auto later = std::async(std::launch::async, work, round);
		later.wait();
		for (auto &thread : threads)
			thread.join();
		if (round == 0)
			printf("ready %d\n", getpid()), fflush(stdout);
	}
}
