// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -std=c++20 -Wno-volatile
/* Coroutines of C++: suspended, resumed from elsewhere, and one that awaits another. */
#include <coroutine>
#include <utility>

extern "C" {
#include "case.h"
}

struct task {
	struct promise_type;
	using handle = std::coroutine_handle<promise_type>;

	struct final_awaiter {
		bool await_ready() const noexcept { return false; }
		std::coroutine_handle<> await_suspend(handle self) const noexcept;
		void await_resume() const noexcept {}
	};

	struct promise_type {
		long value = 0;
		std::coroutine_handle<> awaited_by = std::noop_coroutine();

		task get_return_object() { return task(handle::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		final_awaiter final_suspend() noexcept { return {}; }
		void return_value(long n) { value = n; }
		void unhandled_exception() {}
	};

	explicit task(handle h) : coroutine(h) {}
	task(task &&other) noexcept : coroutine(std::exchange(other.coroutine, {})) {}
	~task()
	{
		if (coroutine)
			coroutine.destroy();
	}

	bool await_ready() const noexcept { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> by) const noexcept
	{
		coroutine.promise().awaited_by = by;
		return coroutine;
	}
	long await_resume() const { return coroutine.promise().value; }

	handle coroutine;
};

std::coroutine_handle<> task::final_awaiter::await_suspend(handle self) const noexcept
{
	return self.promise().awaited_by;
}

static NOINLINE long work(long n)
{
	sink += n;
	return n * 2;
}

static task inner(long n)
{
	long more = work(n);

	co_await std::suspend_always();
	co_return work(more) + 1;
}

static task outer(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += co_await inner(i);
	co_return work(sum);
}

static NOINLINE void go_on(std::coroutine_handle<> coroutine)
{
	coroutine.resume();
}

int main()
{
	task whole = outer(3);
	task alone = inner(5);

	take_signals();
	go_on(alone.coroutine);
	go_on(alone.coroutine);
	go_on(whole.coroutine); /* up to the suspension in inner() */
	sink += work(1);
	return 0;
}
