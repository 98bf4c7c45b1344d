// SPDX-License-Identifier: Apache-2.0
// Instructions of a function unit, which Unicorn must not run: the unit's model does.
#include "iss.h"

extern "C" {

void atoll_iss_left(Core* core, uint64_t where);

// One instruction of the firmware; function_unit.py has the same fields.
struct Custom {
  Core* core;
  uint32_t (*model)(uint32_t a, uint32_t b);
  int32_t a, b, to, pc;  // Unicorn's numbers of registers; `to` is -1 for x0
  uint32_t stall;        // cycles more than any instruction takes
};

// UC_HOOK_CODE
void atoll_iss_execute(void* engine, uint64_t address, uint32_t size, void* user) {
  const Custom& custom = *static_cast<Custom*>(user);
  Core& core = *custom.core;
  uint64_t a = 0, b = 0, next = address + size;
  atoll_iss_left(&core, next);
  core.engine.read(engine, custom.a, &a);
  core.engine.read(engine, custom.b, &b);
  const uint64_t result = custom.model(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
  if (custom.to >= 0) core.engine.write(engine, custom.to, &result);
  core.time += custom.stall;
  core.engine.write(engine, custom.pc, &next);
}

}  // extern "C"
