#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A measurement takes the memory that its clock and its processes need: profile_memory_test.sh BUILD
# kind: losses
. "$(dirname "$0")/../harness.bash" "$1"
begin "$programs/nested" || finish

# maps: the type and the number of entries of each BPF map that the run has open; of the ring buffer, type 27,
# the bytes
maps() { cat "/proc/$run/fdinfo/"* 2>>"$fate" | awk '/^map_type/ { type = $2 } /^max_entries/ { print type, $2 }'; }
ring() { maps | awk '$1 == 27 { print $2; exit }'; }
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$run/status"; }

sample -F 9999 -p "$pid"
many=$(ring)
sampled
sample -F 99 -p "$pid"
few=$(ring) kb=$(resident) all=$(maps)
sampled
check $((few > 0 && few < many ? 0 : 1)) "the ring buffer is smaller at 99 Hz than at 9999" "$few and $many bytes"
! grep -q '^1 8192$' <<<"$all"
check $? "of one process, there is no room for all of a machine" "$(grep '^1 ' <<<"$all")"
check $((kb > 0 && kb <= 8000 ? 0 : 1)) "8 MB are resident at most" "$kb KB"
finish
