# SPDX-License-Identifier: GPL-2.0-or-later
# Calls getppid() while the interpreter's structures are bent, as a hostile program could: ruby
# ruby_forged.rb. Each call is from the function named after the change. For Ruby 3.1.
require "fiddle"

$stdout.sync = true
puts "ready #{$$}"
$stdin.gets # until the library has its table

def word(at) = Fiddle::Pointer.new(at)[0, 8].unpack1("Q")

def put(at, value)
  Fiddle::Pointer.new(at)[0, 8] = [value].pack("Q")
end

# Calls with another word at an address.
def bend(at, value)
  before = word(at)
  put(at, value)
  Process.ppid
  put(at, before)
end

WILD = 0x123456789abc
STATE = word(Fiddle::Handle::DEFAULT["ruby_current_ec"])
RECORD = word(STATE + 24)
MAIN = word(STATE) + 8 * word(STATE + 8) - 2 * 64 # the frame of this file
BODY = word(word(MAIN + 16) + 16)

def circle = bend(RECORD + 56, RECORD)
def wild_record = bend(RECORD + 56, WILD)
def wild_function = bend(MAIN + 16, WILD)
def wild_variables = bend(MAIN + 32, WILD)
def wild_label = bend(BODY + 80, WILD)
def no_string = bend(BODY + 80, word(MAIN + 16))
def endless_stack = bend(STATE + 8, 1 << 50)
def no_end = bend(MAIN + 32, STATE + 200) # flags that end no run

# The class Object: its extension, the table of its variables, and the first of those, its name.
CLASS = Fiddle.dlwrap(Object)
VARIABLES = word(word(CLASS + 24) + 8)
NAME = word(VARIABLES + 48) + 16
def wild_class = bend(CLASS + 24, WILD)
def wild_variables_of_class = bend(VARIABLES + 48, WILD)
def endless_variables = bend(VARIABLES + 32, 1 << 60)
def wild_name = bend(NAME, WILD)
def whole = Process.ppid

circle
wild_record
wild_function
wild_variables
wild_label
no_string
endless_stack
no_end
wild_class
wild_variables_of_class
endless_variables
wild_name
whole

eval("def #{"long" * 100_000}; Process.ppid; end", nil, "#{"dir/" * 1000}long.rb")
send("long" * 100_000)
eval("def escapes; Process.ppid; end", nil, "\e[31mred.rb")
escapes
