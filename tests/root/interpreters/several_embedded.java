// SPDX-License-Identifier: GPL-2.0-or-later
// A method that has Python run a text: see several_embedded.c.
class several_embedded {
	static native void run_python(String text);

	static void inner(String text) {
		run_python(text);
	}

	static void outer(String text) {
		inner(text);
	}
}
