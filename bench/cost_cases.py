# SPDX-License-Identifier: GPL-2.0-or-later
"""What each way to measure takes of a busy machine, for as long as it runs: the table of README.md.
To be mixed into cases.Cases, whose tools and rounds it uses.
"""
import contextlib
import http.server
import threading
import time

from measure import BpfStatistics, process_cpu_ms
from process_cases import rss_mb
from row import Row
from unwind_cases import DEBIANS_PYTHON, PYTHON


class CostCases:
    def costs(self):
        """With a python3, and two processes that take turns on a CPU: some 100,000 switches a second."""
        rows = {}
        with BpfStatistics(), discarding_server() as address:
            modes = {
                "profile at 49 Hz": [self.profile, "-q", "-f"],
                "profile at 99 Hz": [self.profile, "-q", "-f", "-F", "99"],
                "profile --off-cpu": [self.profile, "-q", "-f", "--off-cpu"],
                "profile --wall": [self.profile, "-q", "-f", "--wall"],
                "profile --live": [self.profile, "-q", "--live"],
                "profile --push": [self.profile, "-q", "--push", f"pyroscope+{address}", "-i", "5"],
            }
            for mode in modes:
                rows[mode] = (Row(f"{mode}, on a busy machine: CPU time and BPF run time", "% of a core"),
                              Row("... RSS", "MB"))

            def measure(_):
                for mode, command in modes.items():
                    run = self.bench.start(command, self.out)
                    run.wait_for_bpf()
                    time.sleep(self.sizes.settle_seconds)
                    used = process_cpu_ms(run.pid()) + run.bpf()[0] / 1e6
                    time.sleep(self.sizes.storm_seconds)
                    used = process_cpu_ms(run.pid()) + run.bpf()[0] / 1e6 - used
                    cpu, rss = rows[mode]
                    cpu.add("ours", used / (self.sizes.storm_seconds * 1000) * 100)
                    rss.add("ours", rss_mb(run.pid()))
                    run.stop()

            rounds, self.rounds = self.rounds, min(self.rounds, 3)
            with (self.bench.beside([DEBIANS_PYTHON, "-c", PYTHON], 1),
                  self.bench.beside([self.bench.workload, "switches", "1000000000", "20"], 1)):
                self.alternate(["ours"], measure)
            self.rounds = rounds
        return [row for pair in rows.values() for row in pair]


class Discard(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def discarding_server():
    """An engine that takes what is pushed, and keeps nothing."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Discard) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
