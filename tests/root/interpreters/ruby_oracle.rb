# SPDX-License-Identifier: GPL-2.0-or-later
# Calls getppid() from stacks of all kinds, and writes its own account of them: ruby ruby_oracle.rb FILE [lines].
# Each line is as in a folded report with the functions of the program only, and with `lines` as in one with
# --lines, but the directories.
require "json"
require "set"
require "zlib"

# It is counted from here on, when all of its files are known.
$stdout.puts "ready #{Process.pid}"
$stdout.flush
$stdin.gets

# Names that a file gives to its functions. What else a backtrace has is written in C.
def names_in(path)
  File.read(path).scan(/\bdef (?:self\.)?([^\s(;]+)/).flatten.uniq
end

NAMES = $LOADED_FEATURES.grep(/\/.*\.rb\z/).push(__FILE__).to_h { |path| [path, names_in(path)] }
NAMES["evaluated.rb"] = %w[evaluated in_text]

# Whether an entry of a backtrace is a function written in Ruby. One in C has the line of its caller.
def ruby?(at, caller, names)
  return true if at.label.match?(/ |\A<\w/) || at.path.to_s.start_with?("<internal:")
  return false unless (names[at.path] || []).include?(at.label)
  return true unless %w[initialize each generate].include?(at.label)
  caller && (at.path != caller.path || at.lineno != caller.lineno)
end

def line_of(trace, names)
  kept = trace.each_with_index.select { |at, i| ruby?(at, trace[i + 1], names) }.map(&:first)
  kept.map { |at| show(at, File.basename(at.path)) }.reverse.join(";")
end

def show(at, file) = "#{at.label} (#{file})#{" (#{file}:#{at.lineno})" if ARGV[1] == "lines"}"

ACCOUNT = Hash.new(0)

def probe
  Process.ppid; ACCOUNT[line_of(caller_locations(0), NAMES)] += 1 # on the same line
end

def write_account(path)
  File.open(path, "a") { |file| ACCOUNT.each { |line, n| file.puts "#{line} #{n}" } }
end

def recurse(n)
  n == 0 ? probe : recurse(n - 1)
end

def through_blocks(n)
  n == 0 ? probe : [n].each { |x| through_blocks(x - 1) }
end

class Base
  include Comparable
  def initialize; probe; end
  def act; probe; self; end
  def self.made; probe; new; end
  def method_missing(name, *) = name == :absent ? probe : super
  def respond_to_missing?(*) = false
  def to_s; probe; "text"; end
  def <=>(other); probe; 0; end
  def coerce(other); probe; [1, 1]; end
  def each; probe; yield 1; probe; yield 2; end
  def to_json(*); probe; "1"; end
  def marshal_dump; probe; 1; end
  def marshal_load(x); probe; end
  def hash; probe; 1; end
  def eql?(other); probe; true; end
  def self.inherited(of); super; probe; end
  def self.const_missing(name); probe; 1; end
  define_method(:defined) { |x| probe; x }
  %w[one two].each { |name| define_method("made_#{name}") { [1].map { probe } } }
  class << self
    def singleton; probe; end
  end
end

class Derived < Base
  def act; super; super(); end
  def defined(x) = super
  probe
end

module Refined
  refine Integer do
    def refined; probe; end
  end
end
using Refined

module Mixed
  def mixed; probe; yield; end
  def self.included(into); probe; end
end

def methods_of_all_kinds
  it = Derived.made.act
  it.absent
  "#{it}"
  it == Base.new
  1 + it
  it.defined(1)
  it.made_one
  it.made_two
  Base.singleton
  Base::Missing
  it.send(:act)
  it.public_send(:defined, 2)
  it.method(:act).call
  [it].each(&:act)
  it.method(:act).to_proc.call
  [1, 2].each(&it.method(:defined))
  5.refined
  Marshal.load(Marshal.dump(Base.new))
  { it => 1 }[Base.new]
  it.singleton_class.include(Mixed)
  it.mixed { probe }
  Class.new(Base) { probe }
  Struct.new(:a) { def looked; probe; end }.new(1).looked
end

def blocks
  [3, 1, 2].each { |x| probe }
  [3, 1, 2].map { |x| [x].map { probe } }
  [3, 1, 2].sort_by { |x| probe; x }
  [3, 1, 2].sort { |x, y| probe; x <=> y }
  [3, 1, 2].inject { |x, y| probe; x }
  { a: 1 }.each_pair { |k, v| probe }
  { a: 1 }.transform_values { recurse(2) }
  Hash.new { |h, k| probe }[1]
  "abc".gsub(/./) { |m| probe; m }
  3.times { probe }
  1.upto(2) { probe }
  1.step(5, 2) { probe }
  loop { probe; break }
  tap { probe }.then { probe }
  catch(:done) { probe; throw :done }
  Set[1, 2].each { probe }
  proc { |x| probe }.call(1)
  add = lambda { |x| probe; x }
  add.(1)
  (add >> add).call(1)
  add.curry[1]
  [1].each(&add)
  Array.new(2) { probe }
  [[1, [2]]].each { |(a, (b))| probe }
  through_blocks(30)
  2.times { 2.times { probe } }
end

def evaluated
  instance_eval { probe }
  Base.class_eval { probe }
  Base.new.instance_exec(1) { |x| probe }
  eval("probe; [1].each { probe }", binding, "evaluated.rb")
  Base.class_eval("def in_text; probe; end", "evaluated.rb")
  Base.new.in_text
end

def errors
  begin
    begin
      raise "wrong"
    rescue => error
      probe
      [1].each { probe }
      raise error
    ensure
      probe
    end
  rescue
    probe
  end
  begin
    return probe
  ensure
    probe
  end
end

def jumps
  [1, 2].each { |x| begin; next; ensure; probe; end }
  [1, 2].each { |x| begin; break; ensure; probe; end }
  Integer("x") rescue probe
  tries = 0
  begin
    tries += 1
    raise "again" if tries < 3
    probe
  rescue
    probe
    retry
  end
  catch(:out) { [1].each { throw :out } }
  probe
end

def fibers
  fiber = Fiber.new { |x| probe; recurse(3); Fiber.yield 1; probe }
  fiber.resume
  fiber.resume
  Fiber.new { Fiber.new { [1].each { probe } }.resume; probe }.resume
  each = Enumerator.new { |to| probe; to << 1; probe; to << 2 }
  each.next
  each.next
  each.map { |x| probe }
  Base.new.to_enum.next
  (1..Float::INFINITY).lazy.map { |x| probe; x }.select { |x| probe; true }.first(2)
end

def in_thread = recurse(3)

def threads
  Thread.new { probe; in_thread; [1].each { probe } }.join
  3.times.map { |i| Thread.new(i) { |n| recurse(n) } }.each(&:join)
  Thread.new { Fiber.new { probe }.resume }.join
  Thread.new { Thread.handle_interrupt(RuntimeError => :never) { probe } }.join
end

# A reader for the library in C.
class Source
  def initialize; @rest = Zlib.gzip("text " * 9); end
  def read(size = nil, to = nil) = (probe; taken = @rest; @rest = nil; taken)
end

def extensions
  JSON.generate([Base.new])
  Zlib::GzipReader.new(Source.new).read
end

def hooks
  trap("USR1") { probe }
  Process.kill("USR1", Process.pid)
  sleep 0.01
  TracePoint.new(:raise) { probe }.enable { raise "x" rescue 0 }
  ObjectSpace.each_object(Class) { probe; break }
end

probe
20.times { |n| recurse(n) }
recurse(900)
methods_of_all_kinds
blocks
evaluated
errors
jumps
fibers
threads
extensions
hooks
File.write("#{ARGV[0]}.rb", "def loaded; probe; end\nloaded\n[1].each { probe }\n")
NAMES["#{ARGV[0]}.rb"] = names_in("#{ARGV[0]}.rb")
load "#{ARGV[0]}.rb"
require "#{ARGV[0]}.rb"

child = fork do
  ACCOUNT.clear
  recurse(2)
  [1].each { probe }
  write_account(ARGV[0])
  exit!
end
Process.wait(child)

def finalized = proc { probe }

ObjectSpace.define_finalizer(Object.new, finalized)
at_exit { write_account(ARGV[0]) }
at_exit { probe; [1].each { recurse(1) } }
GC.start
