/* SPDX-License-Identifier: Apache-2.0 */
// Registers and memories of RTL begin with values that a seed decides. Verilator gives each variable
// one; an array's elements, which it asks for one after the other, get one each here.
//
// Every file that Verilator writes includes this, behind Verilator's own headers (build/verilator.py).
#pragma once

#include <cstdint>

namespace random_start {

inline uint64_t salt_of(uint64_t scope, uint64_t salt) {
  static uint64_t before = 0, number = 0;
  const uint64_t variable = scope ^ salt;
  number = variable == before ? number + 1 : 0;
  before = variable;
  return salt + number * 0x9e3779b97f4a7c15ULL;
}

}  // namespace random_start

#define VL_SCOPED_RAND_RESET_I(bits, scope, salt) \
  VL_SCOPED_RAND_RESET_I(bits, scope, random_start::salt_of(scope, salt))
#define VL_SCOPED_RAND_RESET_Q(bits, scope, salt) \
  VL_SCOPED_RAND_RESET_Q(bits, scope, random_start::salt_of(scope, salt))
#define VL_SCOPED_RAND_RESET_W(bits, words, scope, salt) \
  VL_SCOPED_RAND_RESET_W(bits, words, scope, random_start::salt_of(scope, salt))
