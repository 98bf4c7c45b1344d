// SPDX-License-Identifier: Apache-2.0
// What plays accelerators without RTL: asks the process that started this one, and hands its accesses
// to the stand-ins on the bus (atoll_stand_in.sv).
//
// Messages are little-endian words over the socket that the environment names. For each access to a
// register this side sends a `Question`; the other one may read memory with `kPeek` and then gives an
// `Answer`, with the accesses of what was started if something was.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "backdoor.h"
#include "monitor.h"

namespace {

constexpr const char* kSocket = "ATOLL_STAND_INS";
constexpr uint32_t kAnswer = 0, kPeek = 1;
constexpr uint32_t kOutstanding = 8;

struct Question {
  uint32_t master, write, offset, value;
  uint64_t cycle;
  // Nothing is under way any more; the bus's answer and the address where it failed.
  uint32_t done, resp, address;
  uint32_t reserved;
};

struct Answer {
  uint32_t value, failed;
  // 0 low, 1 high, 2 high once all is done.
  uint32_t irq;
  // What is started: accesses, bytes of those that write, cycles.
  uint32_t started, accesses, bytes, cycles;
};

struct Peek {
  uint32_t address, size;
};

struct Access {
  uint32_t write, address, size;
};

struct StandIn {
  std::vector<Access> accesses;
  std::vector<uint8_t> bytes;
  size_t next = 0, byte = 0, last_byte = 0;
  uint32_t waiting = 0;
  std::vector<uint32_t> asked;
  size_t answered = 0;
  uint64_t begin = 0, cycles = 0;
  uint32_t irq = 0, resp = 0, address = 0;

  bool done() const {
    const bool moved = next == accesses.size() || resp;
    return moved && !waiting && monitor::log().cycle >= begin + cycles;
  }
};

std::map<uint32_t, StandIn>& all() {
  static std::map<uint32_t, StandIn> made;
  return made;
}

int connection() {
  static const int file = std::getenv(kSocket) ? std::atoi(std::getenv(kSocket)) : -1;
  return file;
}

[[noreturn]] void lost() {
  std::fprintf(stderr, "what plays the accelerators does not answer\n");
  std::_Exit(1);
}

void give(const void* data, size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size) {
    const ssize_t done = write(connection(), from, size);
    if (done <= 0) lost();
    from += done;
    size -= static_cast<size_t>(done);
  }
}

void take(void* data, size_t size) {
  char* to = static_cast<char*>(data);
  while (size) {
    const ssize_t done = read(connection(), to, size);
    if (done <= 0) lost();
    to += done;
    size -= static_cast<size_t>(done);
  }
}

void peek() {
  Peek asked;
  take(&asked, sizeof asked);
  std::vector<uint8_t> data(asked.size + 1);
  data[0] = backdoor::peek(asked.address, asked.size, data.data() + 1);
  give(data.data(), data.size());
}

Answer ask(const Question& question) {
  give(&question, sizeof question);
  uint32_t kind = kPeek;
  while (take(&kind, sizeof kind), kind == kPeek) peek();
  if (kind != kAnswer) lost();
  Answer answer;
  take(&answer, sizeof answer);
  return answer;
}

}  // namespace

extern "C" {

void atoll_stand_in_register(uint32_t master, uint32_t write, uint32_t offset, uint32_t value,
                             uint32_t* answer, uint32_t* failed) {
  StandIn& it = all()[master];
  const uint64_t cycle = monitor::log().cycle;
  const Answer said =
      ask({master, write, offset, value, cycle, it.done(), it.resp, it.address, 0});
  *answer = said.value;
  *failed = said.failed;
  if (said.started) {
    it = StandIn();
    it.accesses.resize(said.accesses);
    it.bytes.resize(said.bytes);
    take(it.accesses.data(), said.accesses * sizeof(Access));
    take(it.bytes.data(), said.bytes);
    it.begin = cycle;
    it.cycles = said.cycles;
  }
  it.irq = said.irq;
}

uint32_t atoll_stand_in_beat(uint32_t master, uint32_t* write, uint32_t* address, uint32_t* size) {
  StandIn& it = all()[master];
  if (it.next == it.accesses.size() || it.resp || it.waiting == kOutstanding) return 0;
  const uint64_t due = it.begin + it.cycles * it.next / it.accesses.size();
  if (monitor::log().cycle < due) return 0;
  const Access& access = it.accesses[it.next++];
  *write = access.write;
  *address = access.address;
  *size = access.size;
  it.last_byte = it.byte;
  if (access.write) it.byte += access.size;
  it.asked.push_back(access.address);
  ++it.waiting;
  return 1;
}

uint8_t atoll_stand_in_byte(uint32_t master, uint32_t number) {
  const StandIn& it = all()[master];
  const size_t at = it.last_byte + number;
  return at < it.byte ? it.bytes[at] : 0;
}

void atoll_stand_in_answer(uint32_t master, uint32_t resp) {
  StandIn& it = all()[master];
  if (it.waiting) --it.waiting;
  if (resp && !it.resp) {
    it.resp = resp;
    it.address = it.answered < it.asked.size() ? it.asked[it.answered] : 0;
  }
  ++it.answered;
}

uint32_t atoll_stand_in_irq(uint32_t master) {
  const StandIn& it = all()[master];
  return it.irq == 1 || (it.irq == 2 && it.done());
}

}  // extern "C"
