# SPDX-License-Identifier: Apache-2.0
"""Verilator gives an array one random value; here each of its elements has its own."""

import subprocess
from pathlib import Path

from atoll_sim.build.verilator import RANDOM_START

VERILATOR = """\
#include <cstdint>
#include <cstdio>
static uint32_t VL_SCOPED_RAND_RESET_I(int, uint64_t scope, uint64_t salt) {
  return static_cast<uint32_t>((scope ^ salt) >> 32 ^ (scope ^ salt));
}
"""
MAIN = """
int main() {
  for (int element = 0; element < 4; ++element) {
    std::printf("%u ", VL_SCOPED_RAND_RESET_I(32, 7, 9));
  }
  std::printf("%u ", VL_SCOPED_RAND_RESET_I(32, 7, 10));
  std::printf("%u\\n", VL_SCOPED_RAND_RESET_I(32, 7, 9));
}
"""


def test_each_element_begins_with_a_value_of_its_own(tmp_path: Path) -> None:
    source = tmp_path / "main.cpp"
    source.write_text(VERILATOR + RANDOM_START.read_text() + MAIN)
    program = str(tmp_path / "main")
    subprocess.run(["g++", "-std=c++20", str(source), "-o", program], check=True)
    found = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    array, other, again = found[:4], found[4], found[5]
    assert len(set(array)) == 4
    assert other not in array
    assert again == array[0]
