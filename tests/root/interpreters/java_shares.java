// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/* A program whose time goes to some twenty methods: java_shares SECONDS, of CPU time. */
public class java_shares {
	static final Map<Integer, String> counts = new HashMap<>();

	static int sorts(int n) {
		Random random = new Random(n);
		List<Integer> list = new ArrayList<>();

		for (int i = 0; i < 2000; i++)
			list.add(random.nextInt());
		Collections.sort(list);
		return list.get(0);
	}

	static int matches() {
		Matcher matcher = Pattern.compile("([a-z]+)(\\d+)").matcher("abc123 def456 ghi789 ".repeat(20));
		int sum = 0;

		while (matcher.find())
			sum += matcher.end();
		return sum;
	}

	static int merges() {
		for (int i = 0; i < 3000; i++)
			counts.merge(i % 500, "x", (a, b) -> a.length() > 20 ? "x" : a + b);
		return counts.size();
	}

	static int sums() {
		return IntStream.range(0, 5000).filter(i -> i % 3 == 0).map(i -> i * 7).sum();
	}

	static int formats(int n) {
		StringBuilder text = new StringBuilder();

		for (int i = 0; i < 100; i++)
			text.append(String.format("%d:%s", i, "v" + n));
		return text.length();
	}

	static int orders() {
		TreeMap<String, Integer> map = new TreeMap<>();

		for (int i = 0; i < 1000; i++)
			map.put("k" + i * 7919 % 1000, i);
		return map.size();
	}

	static long cpu() {
		return ProcessHandle.current().info().totalCpuDuration().get().toNanos();
	}

	public static void main(String[] args) {
		long until = cpu() + Long.parseLong(args[0]) * 1_000_000_000L;
		int sum = 0;

		for (int n = 0; cpu() < until; n++)
			sum += sorts(n) + matches() + merges() + sums() + formats(n) + orders();
		System.out.println(sum);
	}
}
