// SPDX-License-Identifier: GPL-2.0-or-later
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.RandomAccess;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/*
 * A program with all kinds of generated code: java_busy WARM. After WARM rounds it says "ready", and goes on in the
 * thread "Worker" for ever.
 */
public class java_busy {
	interface Operation {
		long on(long x);
	}

	static final Operation[] operations = { x -> x + 1, x -> x ^ 7, x -> x * 3, x -> Long.rotateLeft(x, 3) };

	static abstract class Shape {
		abstract long area(long x);
	}

	static class Line extends Shape {
		long area(long x) {
			return x - 5;
		}
	}

	static class Square extends Shape {
		long area(long x) {
			return x + 9;
		}
	}

	static class Tree extends Shape {
		long area(long x) {
			return fibonacci((int)(x & 7));
		}
	}

	static final Shape[] shapes = { new Line(), new Square(), new Tree() };
	static final Pattern pattern = Pattern.compile("(a|b)*c+(\\d+)x?");
	static final Object[] objects = { "s",	       1,		  2L,	       new ArrayList<>(), new Tree(),
					  new int[3], new String[2], Thread.State.NEW };
	static final Method method;
	static final MethodHandle handle;
	static long sink;

	static {
		try {
			MethodType type = MethodType.methodType(int.class, int.class);
			method = java_busy.class.getDeclaredMethod("fibonacci", int.class);
			handle = MethodHandles.lookup().findStatic(java_busy.class, "fibonacci", type);
		} catch (ReflectiveOperationException e) {
			throw new ExceptionInInitializerError(e);
		}
	}

	static int fibonacci(int n) {
		return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
	}

	static long dispatch(long s) {
		for (int i = 0; i < 200; i++) {
			s = operations[i & 3].on(s);
			s += shapes[i % 3].area(s);
		}
		return s;
	}

	static long maps(long s) {
		HashMap<String, Integer> map = new HashMap<>();
		long sum = 0;
		for (int i = 0; i < 60; i++)
			map.merge("k" + i * s % 17, i, Integer::sum);
		for (Map.Entry<String, Integer> entry : new TreeMap<>(map).entrySet())
			sum += entry.getKey().hashCode() + entry.getValue();
		return sum;
	}

	static long streams(long s) {
		return IntStream.range(0, 50)
			.mapToObj(i -> "v" + (i ^ s))
			.filter(x -> x.length() > 1)
			.sorted(Comparator.reverseOrder())
			.collect(Collectors.groupingBy(x -> x.charAt(1), Collectors.counting()))
			.values()
			.stream()
			.mapToLong(Long::longValue)
			.sum();
	}

	static long expressions(long s) {
		Matcher matcher = pattern.matcher("ababcc" + s + "x");
		return matcher.find() ? matcher.group(2).length() : 0;
	}

	static long numbers(long s) {
		return BigInteger.valueOf(s | 3).pow(9).mod(BigInteger.valueOf(1000003)).longValue();
	}

	static long thrower(int depth) {
		if (depth == 0)
			throw new IllegalStateException("x");
		try {
			return thrower(depth - 1) + 1;
		} finally {
			sink++;
		}
	}

	static long exceptions(long s) {
		try {
			return thrower((int)(s & 7) + 1);
		} catch (IllegalStateException e) {
			return e.getMessage().length();
		}
	}

	static synchronized long locked(long s) {
		sink += s;
		return sink;
	}

	static long digests(long s) throws Exception {
		byte[] bytes = ("q" + s).repeat(20).getBytes(StandardCharsets.UTF_8);
		CRC32 sum = new CRC32();
		sum.update(bytes);
		return MessageDigest.getInstance("SHA-256").digest(bytes)[0] + sum.getValue();
	}

	static long mathematics(long s) {
		double d = 0;
		for (int i = 1; i < 20; i++)
			d += Math.sin(i * s) + Math.exp(i * 0.01) + Math.pow(i, 1.3) + Math.log(i);
		return (long)d;
	}

	static long casts(long s) {
		long sum = 0;
		for (int i = 0; i < 64; i++) {
			Object object = objects[(int)(i + s & 7)];
			Object[] copy = new Object[2];
			if (object instanceof Comparable)
				sum++;
			if (object instanceof RandomAccess)
				sum += 2;
			if (object instanceof CharSequence text)
				sum += text.length();
			copy[0] = object;
			sum += copy.length;
		}
		return sum;
	}

	static long reflection(long s) throws Throwable {
		return (Integer)method.invoke(null, (int)(s & 7)) + (int)handle.invokeExact((int)(s & 7));
	}

	static long arrays(long s) {
		byte[] a = new byte[300], b = new byte[300];
		System.arraycopy(a, 0, b, 3, 200);
		Arrays.fill(a, (byte)s);
		int[] sorted = new Random(s).ints(40).toArray();
		Arrays.sort(sorted);
		long[][] two = new long[3][4];
		return Arrays.hashCode(sorted) + (Arrays.equals(a, b) ? 1 : 2) + two[1].length +
		       String.valueOf(sorted[0]).indexOf('3');
	}

	static long natives() {
		return System.nanoTime() + System.currentTimeMillis() + Thread.currentThread().hashCode() +
		       Runtime.getRuntime().availableProcessors() + new Object().hashCode();
	}

	static long many(int a, long b, double c, float d, Object e, long f, long g, long h, int i, int j, double k,
			 double l) {
		return a + b + (long)c + (long)d + e.hashCode() + f + g + h + i + j + (long)(k + l);
	}

	static long round(long s) throws Throwable {
		s += dispatch(s) + maps(s) + streams(s) + expressions(s) + numbers(s) + exceptions(s) + locked(s);
		s += digests(s) + mathematics(s) + casts(s) + reflection(s) + arrays(s) + natives();
		return s + many(1, s, 2.0, 3f, "e", 4, 5, 6, 7, 8, 9.0, 10.0);
	}

	static void work(int warm) {
		try {
			long s = 1;
			for (int i = 0; i < warm; i++)
				s = round(s);
			System.out.println("ready");
			while (true)
				s = round(s);
		} catch (Throwable e) {
			e.printStackTrace();
		}
	}

	public static void main(String[] args) {
		int warm = Integer.parseInt(args[0]);
		new Thread(() -> work(warm), "Worker").start();
	}
}
