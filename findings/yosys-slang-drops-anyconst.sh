#!/usr/bin/env bash
# One Yosys, two front ends: what (* anyconst *) makes a constant changes in each cycle behind slang.
#
# Packages: pyosys 0.70, with its read_verilog, read_slang and yosys-abc.
# Expected: a signal with the attribute anyconst has any value, the same in all cycles; that is how a
#   proof watches one transaction of many. So "it is what it was a cycle ago" is proven.
# Seen: read_verilog -formal makes an $anyconst cell, and the property is proven. read_slang reads the
#   same file with "0 errors, 0 warnings", makes no cell, and leaves the signal without a driver: made
#   free by `setundef -undriven -anyseq` it changes, and the property is refuted in cycle 2.
# So: behind read_slang take an input of the top module, and a register that keeps its first value.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyosys==0.70
cd "$folder"
cat >watch.sv <<'SV'
module watch (input logic clk);
  (* anyconst *) logic [3:0] chosen;
  logic [3:0] chosen_q;
  logic begun_q = 1'b0;
  always_ff @(posedge clk) begin
    chosen_q <= chosen;
    begun_q  <= 1'b1;
    if (begun_q) constant : assert (chosen == chosen_q);
  end
endmodule
SV
cat >prove.py <<'PY'
import subprocess
import sys
from pathlib import Path

from pyosys import libyosys

design = libyosys.Design()
for line in (
    sys.argv[1],
    "tee -q -o cells select -list t:$anyconst",
    *("prep -flatten -top watch", "async2sync", "chformal -lower", "setundef -undriven -anyseq"),
    *("techmap", "dffunmap", "aigmap", "write_aiger -zinit watch.aig"),
):
    libyosys.run_pass(line, design)
abc = Path(libyosys.__file__).with_name("yosys-abc")
said = subprocess.run([abc, "-q", "read_aiger watch.aig; pdr"], capture_output=True, text=True).stdout
print("RESULT", len(Path("cells").read_text().split()), "Property proved" in said, "was asserted" in said)
PY
try() { venv/bin/python prove.py "$1" | sed -n 's/^RESULT //p'; }
verilog=$(try "read_verilog -sv -formal watch.sv")
slang=$(try "read_slang --top watch watch.sv")
echo "read_verilog: cells, proven, refuted: $verilog"
echo "read_slang:   cells, proven, refuted: $slang"
[ "$verilog" = "1 True False" ] && [ "$slang" = "0 False True" ] || { echo CHANGED; exit 1; }
