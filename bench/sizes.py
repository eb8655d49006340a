# SPDX-License-Identifier: GPL-2.0-or-later
"""How much each case measures: as for the document, and in a smoke that only shows that it works."""
from dataclasses import dataclass


@dataclass
class Sizes:
    rounds: int = 5
    calls: int = 10_000_000         # of the function probed
    seconds: float = 3              # of each run at 997 Hz
    overhead_seconds: int = 21
    events: int = 1_000_000         # of each tracepoint
    stacks: int = 1_000_000         # of the report
    switches: int = 400_000
    blocks: int = 100_000           # that are allocated
    frame_calls: int = 500_000
    function_calls: int = 4000
    strays: float = 1.05            # of such calls, with those of other processes
    dwarf_seconds: int = 30
    other_releases: bool = True     # interpreters that have to be downloaded
    rows_of: tuple = ()             # files and folders; else the usual ones
    waiting: int = 200              # processes at the start
    processes: int = 5000
    process_seconds: int = 5
    settle_seconds: float = 10      # until a peer knows the processes
    storm_seconds: float = 10
    containers: int = 200
    compile_seconds: float = 120
    grown_from: int = 20
    grown_to: int = 60
    addresses: int = 1_000_000      # that are named
    named_files: int = 500
    large_functions: int = 3_000_000
    compiled_files: int = 300
    programs: tuple = ()            # whose frames are looked at; else all that are installed
    program_seconds: float = 3
    least_samples: int = 100        # of each program


SMOKE = Sizes(rounds=1, calls=4000, seconds=0.3, overhead_seconds=2, events=4000, stacks=2000,
              switches=4000, blocks=3000, frame_calls=3000, function_calls=200, strays=100, dwarf_seconds=1,
              other_releases=False, rows_of=("/usr/sbin",), waiting=8, processes=20,
              process_seconds=1, settle_seconds=1, storm_seconds=1, containers=8, compile_seconds=1, grown_from=1, grown_to=2, addresses=2000, named_files=5,
              large_functions=20_000, compiled_files=10, programs=("gzip",), program_seconds=0.5,
              least_samples=10)
