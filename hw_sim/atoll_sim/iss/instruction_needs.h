/* SPDX-License-Identifier: Apache-2.0 */
// What an instruction needs of a core that Unicorn always has.
#pragma once
#include <cstdint>

#include "instruction_class.h"

// Extensions; the order of iss/rules.py.
enum Needs : uint32_t {
  kNothing = 0,
  kMultiplies = 1,
  kAtomics = 2,
  kFloats = 4,
  kDoubles = 8,
  kCompressed = 16,
  kDsp = 32,
  kMachine = 64,  // the privileged architecture of RISC-V
};

// RISC-V; a reader of the unprivileged specification, chapter "RV32/64G Instruction Set Listings".
inline uint32_t needs_of_half(uint32_t word, Encoding encoding) {
  const uint32_t quadrant = word & 3, function = word >> 13 & 7;
  if (quadrant == 1 || (function & 1) == 0) return kCompressed;
  if (function == 1 || function == 5) return kCompressed | kFloats | kDoubles;
  return encoding == kRv32 ? kCompressed | kFloats : kCompressed;
}

inline uint32_t needs_of(uint32_t word, Encoding encoding) {
  if ((word & 3) != 3) return needs_of_half(word, encoding);
  const uint32_t function = word >> 12 & 7;
  switch (word & 0x7f) {
    case 0x33: case 0x3b: return word >> 25 == 1 ? kMultiplies : kNothing;
    case 0x2f: return kAtomics;
    case 0x07: case 0x27: return function == 3 ? kFloats | kDoubles : kFloats;
    case 0x43: case 0x47: case 0x4b: case 0x4f: case 0x53:
      return word >> 25 & 1 ? kFloats | kDoubles : kFloats;
    case 0x73: {
      const uint32_t csr = word >> 20;
      if (function == 0) return csr > 1 ? kMachine : kNothing;  // ecall and ebreak are everywhere
      if (csr >= 1 && csr <= 3) return kFloats;                 // fflags, frm and fcsr
      const bool counter = (csr & 0xf7c) == 0xc00 && function == 2 && (word >> 15 & 31) == 0;
      return counter ? kNothing : kMachine;
    }
    default: return kNothing;
  }
}

// Thumb; a reader of the Armv7-M manual, chapter A5 "The Thumb instruction set encoding".
inline bool is_dsp(uint32_t first, uint32_t second) {
  const uint32_t kind = first >> 4 & 15, other = second >> 4 & 15;
  if ((first & 0xfff0) == 0xeac0) return true;                                       // pkhbt, pkhtb
  if ((first & 0xff70) == 0xf320) return (second & 0x70c0) == 0;                     // ssat16, usat16
  if ((first & 0xff80) == 0xfb00) return (kind & 7) != 0;                            // smlad and its kind
  if ((first & 0xff80) == 0xfb80) return (kind & 4) && other >= 6 && other != 15;    // smlald and its kind, umaal
  if ((first & 0xff00) != 0xfa00 || (second & 0xf000) != 0xf000) return false;
  if (kind >= 8) return other < 8 || kind == 8 || kind == 10;                        // parallel, qadd, sel
  if (other < 8) return false;
  return kind == 2 || kind == 3 || (first & 15) != 15;                               // sxtb16, sxtah
}

inline uint32_t needs_of_thumb(uint32_t first, uint32_t second) {
  const uint32_t coprocessor = second >> 8 & 15;
  if ((first & 0xec00) == 0xec00 && (first >> 11) >= 0x1d && (coprocessor & 14) == 10) {
    const bool computes = (first & 0xef00) == 0xee00 && !(second & 0x10);
    return computes && coprocessor == 11 ? kFloats | kDoubles : kFloats;
  }
  return first >> 11 >= 0x1d && is_dsp(first, second) ? kDsp : kNothing;
}

// Whether an access by the instruction has to be aligned on every core. Single loads and stores need not.
inline bool always_aligned_thumb(uint32_t first, uint32_t second) {
  if (first >> 11 < 0x1d) return first >> 12 == 0xc || (first & 0xf600) == 0xb400;  // ldm, stm, push, pop
  if ((first & 0xee00) == 0xec00) return true;                                      // vldr, vstr, vldm, vstm
  const bool table = (first & 0xfff0) == 0xe8d0 && (second & 0xffe0) == 0xf000;     // tbb, tbh
  return (first & 0xfe00) == 0xe800 && !table;                                      // several, two, exclusive
}
