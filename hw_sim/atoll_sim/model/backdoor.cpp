// SPDX-License-Identifier: Apache-2.0
#include "backdoor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "memory_map.h"
#include "protocol.h"
#include "verilated.h"
#include "verilated_syms.h"

namespace backdoor {
namespace {

// First byte of each bank's array of each memory. Verilator keeps a row of 2^n bytes in as many bytes.
std::vector<std::vector<uint8_t*>> banks;

uint8_t* find_bank(const chip::Memory& memory, uint32_t bank) {
  const std::string name = std::string("atoll_chip.") + memory.instance + ".gen_bank[" +
                           std::to_string(bank) + "].u_bank";
  const VerilatedScope* scope = Verilated::threadContextp()->scopeFind(name.c_str());
  VerilatedVar* rows = scope ? scope->varFind("rows_q") : nullptr;
  return rows ? static_cast<uint8_t*>(rows->datap()) : nullptr;
}

// Call `visit(bank byte, bytes done, bytes)` for each piece of a span that lies in one word.
template <typename Visit>
bool each_piece(uint32_t address, size_t size, Visit visit) {
  for (size_t index = 0; index < banks.size(); ++index) {
    const chip::Memory& memory = chip::map().memories[index];
    const uint32_t offset = address - memory.origin;
    if (address < memory.origin || offset >= memory.size || size > memory.size - offset) continue;
    for (size_t done = 0; done < size;) {
      const size_t at = offset + done;
      const size_t word = at / memory.word_bytes;
      const size_t inside = at % memory.word_bytes;
      const size_t bytes = std::min(size - done, memory.word_bytes - inside);
      uint8_t* bank = banks[index][word % memory.banks];
      visit(bank + word / memory.banks * memory.word_bytes + inside, done, bytes);
      done += bytes;
    }
    return true;
  }
  return size == 0;
}

}  // namespace

const char* open() {
  banks.resize(chip::map().memories.size());
  for (size_t index = 0; index < banks.size(); ++index) {
    const chip::Memory& memory = chip::map().memories[index];
    for (uint32_t bank = 0; bank < memory.banks; ++bank) {
      uint8_t* bytes = find_bank(memory, bank);
      if (!bytes) return memory.instance;
      banks[index].push_back(bytes);
    }
  }
  fill();
  return nullptr;
}

void fill() {
  for (size_t index = 0; index < banks.size(); ++index) {
    const chip::Memory& memory = chip::map().memories[index];
    const uint8_t pattern = memory.writable ? record::kUnwrittenRam : record::kErasedRom;
    for (uint8_t* bank : banks[index]) std::memset(bank, pattern, memory.size / memory.banks);
  }
}

bool peek(uint32_t address, size_t size, uint8_t* to) {
  return each_piece(address, size, [to](const uint8_t* from, size_t done, size_t bytes) {
    std::memcpy(to + done, from, bytes);
  });
}

bool poke(uint32_t address, size_t size, const uint8_t* from) {
  return each_piece(address, size, [from](uint8_t* to, size_t done, size_t bytes) {
    std::memcpy(to, from + done, bytes);
  });
}

bool load_image(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::array<uint32_t, 2> head;
  std::vector<uint8_t> bytes;
  while (file.read(reinterpret_cast<char*>(head.data()), sizeof head)) {
    bytes.resize(head[1]);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), head[1])) return false;
    if (!poke(head[0], bytes.size(), bytes.data())) return false;
  }
  return file.eof() && file.gcount() == 0;
}

}  // namespace backdoor

// Called from Python, monitors.py.
extern "C" {

int atoll_peek(uint32_t address, size_t size, uint8_t* to) {
  return backdoor::peek(address, size, to);
}

int atoll_poke(uint32_t address, size_t size, const uint8_t* from) {
  return backdoor::poke(address, size, from);
}

int atoll_load_image(const char* path) { return backdoor::load_image(path); }

}  // extern "C"
