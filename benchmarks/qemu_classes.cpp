// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU: counts the instructions of each class between writes to a register of the console.
//
// Its arguments are the address of that register, the file that it writes a row to for each write and for the end, and
// `wide=on` for a core in its 64-bit state; others run Thumb. For such a core, `blocks` is a file that takes which blocks
// of instructions ran, and after which: rows of `block ADDRESS CODE`, counted from 0, of `from to times mispredicted`, and
// of `end`. A branch is mispredicted that goes another way than a counter of two bits expects.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "instruction_class.h"

// What is used of QEMU's interface for plugins, version 1.
extern "C" {
int qemu_plugin_version = 1;
int qemu_plugin_install(uint64_t id, const void* info, int count, char** arguments);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*seen)(uint64_t, void*));
void qemu_plugin_register_vcpu_tb_exec_cb(void* block, void (*ran)(unsigned, void*), int registers, void* user);
void qemu_plugin_register_vcpu_insn_exec_inline(void* instruction, int operation, void* counter, uint64_t added);
void qemu_plugin_register_vcpu_mem_cb(void* instruction, void (*made)(unsigned, uint32_t, uint64_t, void*),
                                      int registers, int which, void* user);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*ended)(uint64_t, void*), void* user);
size_t qemu_plugin_tb_n_insns(const void* block);
void* qemu_plugin_tb_get_insn(const void* block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const void* instruction);
const void* qemu_plugin_insn_data(const void* instruction);
size_t qemu_plugin_insn_size(const void* instruction);
}

namespace {

constexpr int kNoRegisters = 0, kAdd = 0, kWrites = 2;

// Cores that QEMU stands for shift by any number of bits at once: kShifted is left out.
uint64_t counts[kShifted], watched, expected;
FILE *rows, *blocks;
bool wide;

struct Block {
  uint64_t begin, end;
  unsigned number, counter;
  bool branches;
};
struct Way {
  uint64_t times, mispredicted;
};
Block* last;
std::map<std::pair<unsigned, unsigned>, Way> ways;
unsigned seen_blocks;

// A64; a reader of the Armv8-A manual, chapter C4 "A64 Instruction Set Encoding".
Class class_of_a64(uint32_t word) {
  if ((word & 0x0a000000) == 0x08000000) {
    const bool literal = (word & 0x3b000000) == 0x18000000;
    const bool sign = (word & 0x3f000000) >= 0x38000000 && !(word & 0x04000000) && (word & 0x00800000);
    return literal || sign || word >> 22 & 1 ? kLoad : kStore;
  }
  if ((word & 0x7c000000) == 0x14000000 || (word & 0xfe000000) == 0xd6000000) return kJump;
  if ((word & 0xff000000) == 0x54000000 || (word & 0x7c000000) == 0x34000000) return kBranch;
  if ((word & 0x1f000000) == 0x1b000000) return kMultiply;
  if ((word & 0x7fe0f800) == 0x1ac00800) return kDivide;
  return kOther;
}

bool is_vector(uint32_t first) { return (first & 0xec00) == 0xec00; }

// Armv8.1-M's vectors; products by their place among what has a register of 32 bits as result, VMLAV and its kind.
Class class_of_vector(uint32_t first, uint32_t second) {
  const bool moves = !(first & 0x01a0);  // two registers of 32 bits
  if ((first & 0xee00) == 0xec00) return moves ? kOther : first >> 4 & 1 ? kLoad : kStore;
  const bool sums = (first & 0xef80) == 0xee80 && (second & 0x1ed0) == 0x0e00 && (first & 0x70) != 0x60;
  const bool adds = (second & 0x0100) && first & 1;  // VADDV
  return sums && !adds ? kMultiply : kOther;
}

Class class_of_data(const uint8_t* data, size_t size) {
  const uint32_t first = data[0] | data[1] << 8;
  if (size == 2) return class_of_thumb(first, 0);
  const uint32_t second = data[2] | data[3] << 8;
  if (wide) return class_of_a64(second << 16 | first);
  if (is_vector(first)) return class_of_vector(first, second);
  if ((first & 0xffc0) == 0xf000 && second == 0xe801) return kOther;  // VCTP
  return class_of_thumb(first, second);
}

void write_row() {
  for (uint64_t& each : counts) {
    fprintf(rows, "%llu ", static_cast<unsigned long long>(each));
    each = 0;
  }
  fputs("\n", rows);
  fflush(rows);
  if (!blocks) return;
  for (const auto& [pair, way] : ways)
    fprintf(blocks, "%u %u %llu %llu\n", pair.first, pair.second, static_cast<unsigned long long>(way.times),
            static_cast<unsigned long long>(way.mispredicted));
  fputs("end\n", blocks);
  fflush(blocks);
  ways.clear();
}

void wrote(unsigned, uint32_t, uint64_t address, void*) {
  if (address == watched) write_row();
}

void ended(uint64_t, void*) { write_row(); }

bool mispredicts(Block& block, bool taken) {
  if (!block.branches) return false;
  const bool wrong = taken != (block.counter >= 2);
  if (taken && block.counter < 3) ++block.counter;
  if (!taken && block.counter > 0) --block.counter;
  return wrong;
}

void ran(unsigned, void* user) {
  Block* const block = static_cast<Block*>(user);
  const bool taken = block->begin != expected;
  counts[kTaken] += taken;
  expected = block->end;
  if (blocks && last) {
    Way& way = ways[{last->number, block->number}];
    ++way.times;
    way.mispredicted += mispredicts(*last, taken);
  }
  last = block;
}

bool branches_of_a64(uint32_t word) {
  return (word & 0xff000000) == 0x54000000 || (word & 0x7c000000) == 0x34000000;
}

void write_block(const Block& block, void* found, size_t length) {
  fprintf(blocks, "block %llu ", static_cast<unsigned long long>(block.begin));
  for (size_t i = 0; i < length; ++i) {
    const void* const each = qemu_plugin_tb_get_insn(found, i);
    const auto* const data = static_cast<const uint8_t*>(qemu_plugin_insn_data(each));
    for (size_t byte = 0; byte < qemu_plugin_insn_size(each); ++byte) fprintf(blocks, "%02x", data[byte]);
  }
  fputs("\n", blocks);
}

void seen(uint64_t, void* block) {
  const size_t length = qemu_plugin_tb_n_insns(block);
  for (size_t i = 0; i < length; ++i) {
    void* const each = qemu_plugin_tb_get_insn(block, i);
    const auto* const data = static_cast<const uint8_t*>(qemu_plugin_insn_data(each));
    const size_t size = qemu_plugin_insn_size(each);
    const Class found = class_of_data(data, size);
    qemu_plugin_register_vcpu_insn_exec_inline(each, kAdd, &counts[found], 1);
    if (found == kStore) qemu_plugin_register_vcpu_mem_cb(each, wrote, kNoRegisters, kWrites, nullptr);
  }
  const void* const end = qemu_plugin_tb_get_insn(block, length - 1);
  const uint64_t begin = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
  const uint32_t word = *static_cast<const uint32_t*>(qemu_plugin_insn_data(end));
  auto* const made = new Block{begin, qemu_plugin_insn_vaddr(end) + qemu_plugin_insn_size(end), seen_blocks++, 2,
                               wide && branches_of_a64(word)};  // as long as QEMU
  if (blocks) write_block(*made, block, length);
  qemu_plugin_register_vcpu_tb_exec_cb(block, ran, kNoRegisters, made);
}

}  // namespace

int qemu_plugin_install(uint64_t id, const void*, int count, char** arguments) {
  for (int i = 0; i < count; ++i) {
    if (!strncmp(arguments[i], "watched=", 8)) watched = strtoull(arguments[i] + 8, nullptr, 0);
    wide |= !strcmp(arguments[i], "wide=on");
    if (!strncmp(arguments[i], "rows=", 5)) rows = fopen(arguments[i] + 5, "w");
    if (!strncmp(arguments[i], "blocks=", 7)) blocks = fopen(arguments[i] + 7, "w");
  }
  if (!rows) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, seen);
  qemu_plugin_register_atexit_cb(id, ended, nullptr);
  return 0;
}
