// SPDX-License-Identifier: Apache-2.0
// The shadow memory for Python, memory.py: in a library of its own, and inside a model.
#include "devices.h"
#include "shadow.h"

extern "C" {

shadow::Shadow* atoll_shadow_new() { return new shadow::Shadow; }

void atoll_shadow_delete(const shadow::Shadow* shadow) { delete shadow; }

int atoll_shadow_load(shadow::Shadow* shadow, const uint32_t* words, size_t count) {
  return shadow->load(words, count);
}

void atoll_shadow_look_with(shadow::Shadow* shadow, shadow::Peek peek) { shadow->look_with(peek); }

void atoll_shadow_trace(shadow::Shadow* shadow, uint64_t cycle, uint32_t word) {
  shadow->trace(cycle, word);
}

// Accesses to `size` bytes, one beat of at most `beat` bytes after another.
void atoll_shadow_touch(shadow::Shadow* shadow, uint64_t cycle, uint32_t master, uint32_t kind,
                        uint32_t address, uint32_t size, uint32_t beat) {
  for (uint32_t done = 0; done < size;) {
    const uint32_t inside = (address + done) % beat;
    const uint32_t bytes = size - done < beat - inside ? size - done : beat - inside;
    shadow->access(cycle, master, kind, address + done, ~0ULL >> (64 - bytes));
    done += bytes;
  }
}

void atoll_shadow_refused(shadow::Shadow* shadow, uint64_t cycle, uint32_t master, uint32_t kind,
                          uint32_t address, uint32_t size) {
  shadow->refused(cycle, master, kind, address, size);
}

size_t atoll_shadow_findings(const shadow::Shadow* shadow, const shadow::Finding** first,
                             uint64_t* total) {
  *first = shadow->findings().data();
  *total = shadow->total();
  return shadow->findings().size();
}

}  // extern "C"

// Rules of the ports of accelerators, driven by hand.
extern "C" {

device_rules::Watch* atoll_devices_new(shadow::Shadow* shadow) { return new device_rules::Watch(*shadow); }

void atoll_devices_delete(const device_rules::Watch* watch) { delete watch; }

int atoll_devices_wrote(device_rules::Watch* watch, uint64_t cycle, uint32_t master, uint32_t offset,
                        uint32_t value) {
  return watch->wrote(cycle, master, offset, value);
}

int atoll_devices_answered(device_rules::Watch* watch, uint64_t cycle, uint32_t master, uint32_t write,
                           uint32_t offset, uint32_t value, uint32_t failed, uint32_t unanswered,
                           uint32_t held) {
  return watch->answered(cycle, master, write, offset, value, failed, {unanswered, held != 0}, 0);
}

int atoll_devices_line(device_rules::Watch* watch, uint64_t cycle, uint32_t master, uint32_t high,
                       uint32_t unanswered, uint32_t held) {
  return watch->changed_line(cycle, master, high, {unanswered, held != 0});
}

void atoll_devices_asks(device_rules::Watch* watch, uint64_t cycle, uint32_t master) {
  watch->asks(cycle, master);
}

void atoll_devices_wavers(device_rules::Watch* watch, uint64_t cycle, uint32_t master,
                          uint32_t channel) {
  watch->wavers(cycle, master, channel);
}

void atoll_devices_reset(device_rules::Watch* watch, uint64_t cycle, uint32_t master) {
  watch->reset(cycle, master);
}

void atoll_devices_look(device_rules::Watch* watch, uint64_t cycle, uint32_t) { watch->look(cycle); }

void atoll_devices_end(device_rules::Watch* watch, uint64_t cycle, uint32_t) { watch->end(cycle); }

}  // extern "C"
