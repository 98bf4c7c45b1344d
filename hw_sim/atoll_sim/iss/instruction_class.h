/* SPDX-License-Identifier: Apache-2.0 */
// Classes of instructions, by what they cost.
#pragma once
#include <cstdint>

// What instructions cost; the order of iss/costs.py.
enum Class : uint32_t { kOther, kLoad, kStore, kBranch, kJump, kMultiply, kDivide, kTaken, kShifted, kClasses };

// How a core's instructions are encoded: the bits of a RISC-V register, or 0, as native.py says.
enum Encoding : int { kThumb = 0, kRv32 = 32, kRv64 = 64 };

inline Class class_of_half(uint32_t word, Encoding encoding) {
  const uint32_t quadrant = word & 3, function = word >> 13 & 7;
  if (quadrant == 0) return function >= 5 ? kStore : function ? kLoad : kOther;
  if (quadrant == 1) {
    if (function == 5 || (function == 1 && encoding == kRv32)) return kJump;
    return function >= 6 ? kBranch : kOther;
  }
  if (function >= 5) return kStore;
  if (function == 4) return (word >> 2 & 31) == 0 ? kJump : kOther;
  return function ? kLoad : kOther;
}

// RISC-V; a reader of the unprivileged specification, chapter "RV32/64G Instruction Set Listings".
inline Class class_of(uint32_t word, Encoding encoding) {
  if ((word & 3) != 3) return class_of_half(word, encoding);
  switch (word & 0x7f) {
    case 0x03: case 0x07: return kLoad;
    case 0x23: case 0x27: return kStore;
    case 0x63: return kBranch;
    case 0x67: case 0x6f: return kJump;
    case 0x33: case 0x3b:
      if (word >> 25 == 1) return word >> 14 & 1 ? kDivide : kMultiply;
      return kOther;
    default: return kOther;
  }
}

// What a shift by a register counts as, which is the mean in kernels.
constexpr uint32_t kUsualShift = 10;

// By how many bits an instruction of RISC-V shifts; 0 for one that does not shift.
inline uint32_t bits_of_shift(uint32_t word, Encoding encoding) {
  if ((word & 3) != 3) {
    const uint32_t quadrant = word & 3, function = word >> 13 & 7;
    const bool shifts = quadrant == 2 ? function == 0 : quadrant == 1 && function == 4 && !(word >> 11 & 1);
    return shifts ? (word >> 2 & 31) | (word >> 7 & 32) : 0;
  }
  if ((word >> 12 & 3) != 1) return 0;
  switch (word & 0x7f) {
    case 0x13: return word >> 26 & ~16U ? 0 : word >> 20 & (encoding == kRv32 ? 31 : 63);
    case 0x1b: return word >> 20 & 31;
    case 0x33: case 0x3b: return word >> 25 & ~32U ? 0 : kUsualShift;
    default: return 0;
  }
}

// Bits of a shift beyond the first: what they cost is that of kShifted.
inline uint32_t further_bits(uint32_t word, Encoding encoding) {
  const uint32_t bits = bits_of_shift(word, encoding);
  return bits ? bits - 1 : 0;
}

// Thumb; a reader of the Armv7-M manual, chapter A5 "The Thumb instruction set encoding".
inline Class class_of_thumb_half(uint32_t half) {
  const uint32_t top = half >> 12;
  if (top == 5) return (half >> 9 & 7) < 3 ? kStore : kLoad;
  if (top == 4) {
    if (half >> 11 == 9) return kLoad;  // from behind the code
    if (half >> 8 == 0x47) return kJump;
    return half >> 6 == 0x10d ? kMultiply : kOther;
  }
  if (top >= 6 && top <= 9) return half >> 11 & 1 ? kLoad : kStore;
  if (top == 0xb) {
    if ((half & 0x0e00) == 0x0400) return kStore;   // push
    if ((half & 0x0e00) == 0x0c00) return half & 0x100 ? kJump : kLoad;  // pop
    return (half & 0x0500) == 0x0100 ? kBranch : kOther;                 // cbz, cbnz
  }
  if (top == 0xc) return half >> 11 & 1 ? kLoad : kStore;
  if (top == 0xd) return kBranch;
  return top == 0xe ? kJump : kOther;
}

inline Class class_of_thumb(uint32_t first, uint32_t second) {
  if (first >> 11 < 0x1d) return class_of_thumb_half(first);
  if ((first & 0xfe00) == 0xe800) return first >> 4 & 1 ? kLoad : kStore;  // several registers, or two
  if ((first & 0xfe00) == 0xf800) return first >> 4 & 1 ? kLoad : kStore;
  if ((first & 0xf800) == 0xf000 && second >> 15) return second & 0x5000 ? kJump : kBranch;
  if ((first & 0xff80) == 0xfb00) return kMultiply;
  if ((first & 0xff80) == 0xfb80) return (first & 0xd0) == 0x90 ? kDivide : kMultiply;
  return kOther;
}
