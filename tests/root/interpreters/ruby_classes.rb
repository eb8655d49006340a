# SPDX-License-Identifier: GPL-2.0-or-later
# Calls getppid() from methods of all kinds of classes, once from each, and writes which stacks its functions have by Ruby's own
# labels, which have the classes from 3.4 on: ruby ruby_classes.rb FILE. Functions of other files are left out.
$stdout.puts "ready #{Process.pid}"
$stdout.flush
$stdin.gets

SEEN = []
def probe
  Process.ppid
  own = caller_locations(0).select { |at| at.path == __FILE__ && at.label !~ /\A(Array#|Class#|Kernel#|BasicObject#)/ }
  SEEN << own.map { |at| "#{at.label} (#{File.basename(at.path)})" }.reverse.join(";")
end

module Deep
  class Store
    def find
      probe
      [1].each { |x| probe; [2].map { probe } }
    end
    def self.made; probe; end
    class << self
      def single; probe; end
    end
    define_method(:defined) { probe }
    def <=>(other); probe; 0; end
    def ensured; 1; ensure; probe; end
    def in_itself; instance_eval { probe }; end
  end
end

module Mixed
  def mixed; probe; end
  module_function
  def both; probe; end
end

class Derived < Deep::Store
  include Mixed
  def find; super; end
  def calls_private; both; end
  alias other find
end

module Refined
  refine Integer do
    def refined; probe; end
  end
end
using Refined

class ALongNameOfAClassThatIsNotInTheObjectOfItsStringInAnyVersionAsItHasMoreCharactersThanFitThere
  def long; probe; end
end

class WithVariables
  @a, @b, @c = 1, 2, 3
  def self.of_class; probe; end
  def of_object; probe; end
end

probe
derived = Derived.new
derived.find
derived.other
derived.defined
derived <=> 1
derived.ensured
derived.in_itself
derived.mixed
derived.calls_private
Mixed.both
Deep::Store.made
Derived.made
Deep::Store.single
5.refined
ALongNameOfAClassThatIsNotInTheObjectOfItsStringInAnyVersionAsItHasMoreCharactersThanFitThere.new.long
WithVariables.of_class
WithVariables.new.of_object
# Without a name, or with one that is not for good.
Class.new { def nameless; probe; end; def self.nameless_too; probe; end; new.nameless; nameless_too }
Class.new(Deep::Store).new.find
object = Object.new
def object.alone; probe; end
object.alone
later = Class.new { def named; probe; end }
later.new.named
Later = later
later.new.named
variables = Class.new { @name = "Store"; def lying; probe; end }
variables.new.lying
Fiber.new { derived.mixed }.resume
Thread.new { derived.mixed }.join
File.write(ARGV[0], SEEN.join("\n") + "\n")
