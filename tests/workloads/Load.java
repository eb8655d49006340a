// SPDX-License-Identifier: GPL-2.0-or-later
// Works for some ms, and sleeps for ten times as long: Load
public class Load {
	static long inner(long end) { long s = 0; while (System.nanoTime() < end) s += Long.toString(s).hashCode(); return s; }
	static long outer() throws Exception { Thread.sleep(50); return inner(System.nanoTime() + 5_000_000); }
	public static void main(String[] arguments) throws Exception {
		System.out.println("ready " + ProcessHandle.current().pid());
		for (long s = 0; ; s += outer()) if (s == 1) System.out.println(s);
	}
}
