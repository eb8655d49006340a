#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of programs in other languages of the Java machine: java_languages_test.sh BUILD. Scala and Kotlin, whose
# compilers are large, with TEST_ALL.
# timeout: 400
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
command -v java >/dev/null || {
	skip "Clojure, Scala, Kotlin" "no java"
	finish
}
java=$(readlink -f "$(command -v java)")

# libraries PACKAGE: sets $jars to its directory of them
libraries() {
	local root
	root=$("$(dirname "$0")/../../root_of" bookworm "$1" 2>"$err") || {
		skip "functions of $1 programs" "$(tail -n 1 "$err")"
		return 1
	}
	jars=$root/usr/share/java
}

# named LANGUAGE STACK ARGUMENT...: of the samples in the program's function `area`, nearly all are below STACK
named() {
	measure_command -F 499 -U -- "$java" "${@:3}" 3000
	local area whole cut
	area=$(counted '[.$]area[.;]') whole=$(counted "$2") cut=$(counted '\[unwind: .*[.$]area')
	calculates "$area > 100 && $whole >= 0.97 * $area && $cut <= 0.01 * $area"
	check $? "$1: its functions are in the stacks" \
		"$whole of $area, $cut cut; $(grep 'area' "$out" | head -n 1 | rev | cut -c 1-500 | rev) $(tail -n 2 "$err")"
}

if libraries clojure; then
	cat >"$tmp/shapes.clj" <<'S'
(ns shapes)
(defn area [n] (reduce + (map #(Math/sqrt %) (range 1 n))))
(defn work [sizes] (reduce + (map area sizes)))
(let [until (+ (System/nanoTime) (* 1000000 (Long/parseLong (first *command-line-args*))))]
  (while (< (System/nanoTime) until) (work [1000])))
S
	named "Clojure" ';clojure\.main\.main;.*;shapes\$work\.invokeStatic;.*clojure\.core\$reduce\.invokeStatic;.*shapes\$area\.invoke' \
		-cp "$jars/clojure-1.11.jar:$jars/spec.alpha.jar:$jars/core.specs.alpha.jar" clojure.main "$tmp/shapes.clj"
fi
[ -n "${TEST_ALL-}" ] || finish

if libraries scala; then
	cat >"$tmp/shapes.scala" <<'S'
object Shapes {
  trait Shape { def area(n: Int): Double }
  class Circle extends Shape { def area(n: Int) = (1 to n).map(i => math.sqrt(i)).sum }
  def work(shapes: Seq[Shape]): Double = shapes.map(s => s.area(1000)).sum
  def main(args: Array[String]): Unit = {
    val until = System.nanoTime + args(0).toLong * 1000000L
    while (System.nanoTime < until) work(Seq(new Circle))
  }
}
S
	"$java" -cp "$jars/*" scala.tools.nsc.Main -usejavacp -d "$tmp" "$tmp/shapes.scala" >"$err" 2>&1
	named "Scala" ';Shapes\.main;Shapes\$\.main;Shapes\$\.work;scala\.collection\..*;Shapes\$\$anonfun\$work\$1\.apply;Shapes\$Circle\.area' \
		-cp "$jars/scala-library.jar:$tmp" Shapes
fi
if libraries kotlin; then
	cat >"$tmp/shapes.kt" <<'S'
interface Shape { fun area(n: Int): Double }
class Circle : Shape { override fun area(n: Int) = (1..n).map { Math.sqrt(it.toDouble()) }.sum() }
fun work(shapes: List<Shape>) = shapes.map { it.area(1000) }.sum()
fun main(args: Array<String>) {
    val until = System.nanoTime() + args[0].toLong() * 1000000
    while (System.nanoTime() < until) work(listOf(Circle()))
}
S
	# Older than Java 17, whose modules it looks into.
	"$java" --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED \
		-cp "$jars/kotlin-compiler.jar:$jars/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -cp "$jars/kotlin-stdlib.jar" \
		-d "$tmp" "$tmp/shapes.kt" >"$err" 2>&1
	named "Kotlin" ';ShapesKt\.main;ShapesKt\.work;Circle\.area' -cp "$jars/kotlin-stdlib.jar:$tmp" ShapesKt
fi
finish
