// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.File;
import java.io.PrintStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/*
 * A program that has an account of its own stacks: java_oracle ACCOUNT WARM STACKS [busy|virtual]. It calls itself through
 * calls of all kinds, WARM times so that some of it is compiled, and then STACKS times writes the stack that it has
 * and calls mkdir(). With `busy` it goes on without that for two seconds of CPU time; with `virtual` its second thread is
 * a virtual one that sleeps before.
 */
public class java_oracle {
	interface Step {
		int go(int depth, Random random) throws Throwable;
	}

	static abstract class Base implements Step {
		int sum;

		public int go(int depth, Random random) throws Throwable {
			return sum += step(depth, random) & 7;
		}

		abstract int step(int depth, Random random) throws Throwable;
	}

	static class Virtual extends Base {
		int step(int depth, Random random) throws Throwable {
			return next(depth - 1, random) + 1;
		}
	}

	static class Synchronized extends Base {
		synchronized int step(int depth, Random random) throws Throwable {
			try {
				return next(depth - 1, random) * 3;
			} finally {
				sum++;
			}
		}
	}

	static class Lambda extends Base {
		int step(int depth, Random random) throws Throwable {
			int[] result = { 0 };
			List.of(3, 1, 2).forEach(i -> {
				if (i == 1)
					result[0] = unchecked(depth - 1, random);
			});
			return result[0];
		}
	}

	static class Handle extends Base {
		int step(int depth, Random random) throws Throwable {
			return (int) handle.invokeExact(depth - 1, random);
		}
	}

	static class Reflection extends Base {
		int step(int depth, Random random) throws Throwable {
			return (Integer) method.invoke(null, depth - 1, random);
		}
	}

	static class Arguments extends Base {
		int step(int depth, Random random) throws Throwable {
			return (int) many(depth, 1.5 * depth, depth, random, 1, 2, 3, 4, 5, 6, 7, 8);
		}

		static long many(long depth, double d, float f, Random random, long a, long b, long c, long e, int g,
				 int h, int i, int j) throws Throwable {
			return next((int) depth - 1, random) + (long) d + (long) f + a + b + c + e + g + h + i + j;
		}
	}

	static class Streams extends Base {
		int step(int depth, Random random) throws Throwable {
			IntUnaryOperator at = i -> i == 2 ? unchecked(depth - 1, random) : i;
			return IntStream.range(0, 4).map(at).sum();
		}
	}

	static class Callback extends Base {
		int step(int depth, Random random) throws Throwable {
			int[] result = { 0, 0 };
			TreeMap<Integer, Integer> map = new TreeMap<>((x, y) -> {
				if (result[1]++ == 3)
					result[0] = unchecked(depth - 1, random);
				return Integer.compare(x, y);
			});
			for (int i = 0; i < 4; i++)
				map.put(i, i);
			return result[0];
		}
	}

	static class Loop extends Base {
		int step(int depth, Random random) throws Throwable {
			int x = depth;
			for (int i = 0; i < 2000; i++)
				x = x * 31 + i;
			return x + next(depth - 1, random);
		}
	}

	static final Step[] steps = { new Virtual(), new Synchronized(), new Lambda(), new Handle(), new Reflection(),
				      new Arguments(), new Streams(), new Callback(), new Loop() };
	static final MethodHandle handle;
	static final Method method;
	static volatile boolean reports, sleeps;
	static PrintStream account;

	static {
		try {
			MethodType type = MethodType.methodType(int.class, int.class, Random.class);
			handle = MethodHandles.lookup().findStatic(java_oracle.class, "next", type);
			method = java_oracle.class.getDeclaredMethod("next", int.class, Random.class);
		} catch (ReflectiveOperationException e) {
			throw new ExceptionInInitializerError(e);
		}
	}

	static int unchecked(int depth, Random random) {
		try {
			return next(depth, random);
		} catch (Throwable e) {
			throw new IllegalStateException(e);
		}
	}

	static int next(int depth, Random random) throws Throwable {
		return depth <= 0 ? bottom() : steps[random.nextInt(steps.length)].go(depth, random);
	}

	static int bottom() throws InterruptedException {
		if (sleeps)
			Thread.sleep(5);
		if (reports)
			report();
		return 1;
	}

	static void report() {
		List<String> stack = new ArrayList<>();
		StackWalker.getInstance(EnumSet.of(StackWalker.Option.SHOW_HIDDEN_FRAMES))
			.forEach(frame -> stack.add(frame.getClassName() + "." + frame.getMethodName() + " (" +
						    frame.getFileName() + ":" + frame.getLineNumber() + ")"));
		Collections.reverse(stack);
		synchronized (java_oracle.class) {
			account.println(String.join(";", stack) + " 1");
		}
		new File("/nonexistent/java_oracle").mkdir();
	}

	static void run(long seed, int times, boolean reporting) throws Throwable {
		for (int i = 0; i < times; i++) {
			reports = reporting;
			next(4 + i % 9, new Random(seed + i));
			reports = false;
		}
	}

	static void busy() throws Throwable {
		long until = cpu() + 2_000_000_000L;
		for (long i = 0; cpu() < until; i++)
			run(i * 1000, 100, false);
	}

	static long cpu() {
		return ProcessHandle.current().info().totalCpuDuration().get().toNanos();
	}

	public static void main(String[] args) throws Throwable {
		int warm = Integer.parseInt(args[1]), stacks = Integer.parseInt(args[2]);
		account = new PrintStream(args[0]);
		run(1, warm, false);
		if (args.length > 3 && args[3].equals("busy")) {
			busy();
			return;
		}
		System.out.println("ready " + ProcessHandle.current().pid());
		System.in.read();
		run(1_000_000, stacks / 2, true);
		Runnable second = () -> {
			try {
				run(2_000_000, stacks / 2, true);
			} catch (Throwable e) {
				e.printStackTrace();
			}
		};
		Thread thread = new Thread(second);
		sleeps = args.length > 3;
		if (sleeps)
			thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, second);
		else
			thread.start();
		thread.join();
		account.close();
	}
}
