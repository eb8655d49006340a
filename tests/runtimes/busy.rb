# SPDX-License-Identifier: GPL-2.0-or-later
# busy.rb MODE N: as busy.py
ASKS = ARGV[0] == "ask"
def clock
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

def leaf(n)
  total = i = 0
  while i < n
    total += i * i % 7
    i += 1
  end
  Process.ppid if ASKS
  total
end

def key(x)
  total = i = 0
  while i < 60
    total += x ^ i
    i += 1
  end
  Process.ppid if ASKS
  total
end

def render(n)
  leaf(n)
end

def order(n)
  (1..(ASKS ? 1 : n)).to_a.sort_by { |x| key(x) }
end

def handle
  render(600)
  order(10)
end

def run(n)
  ends = clock + n
  done = 0
  while ASKS ? done < n : clock < ends
    handle
    done += 1
  end
end

def main
  run(ARGV[1].to_i)
end

$stdout.puts "ready #{Process.pid}"
$stdout.flush
$stdin.gets
main
