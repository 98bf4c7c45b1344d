/* SPDX-License-Identifier: Apache-2.0 */
// Shadow memory: holds every access against the contract of the compiled networks, in time order.
//
// Each byte of memory has a segment, the maximal span of bytes that the same buffers cover, and a
// tag: which buffer's value it holds, of which lifetime, and who wrote it. What a master may do
// with a segment now is one table entry, which only the events that concern it change; so an
// access that is as planned costs one look-up and its bytes' tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "shadow_table.h"
#include "zeros.h"

namespace shadow {

// Copies bytes out of the memories; false if they are not all inside one.
using Peek = bool (*)(uint32_t address, size_t size, uint8_t* to);

class Shadow {
 public:
  // Take a contract in place of any earlier one. False, and nothing watched, if it is damaged.
  bool load(const uint32_t* words, size_t count);
  bool loaded() const { return loaded_; }

  // Networks that run in turn.
  size_t models() const { return table_.models.size(); }

  // The chip begins anew, as after loading; what was found before stays.
  void restart();

  // How constants and the ends of copies are compared; without it only the bytes of copies are
  // counted.
  void look_with(Peek peek) { peek_ = peek; }

  // A TRACE event of the firmware (docs/platform.md).
  void trace(uint64_t cycle, uint32_t word);

  // What a master that reads at `address` thereby begins by itself, if the operator before is under
  // way on it; else null.
  const Succession* succession(uint32_t master, uint32_t address) const;

  // An access that reached memory: the bytes that `enabled` names, counted from `address`.
  void access(uint64_t cycle, uint32_t master, uint32_t kind, uint32_t address, uint64_t enabled);

  // One that a firewall kept back.
  void refused(uint64_t cycle, uint32_t master, uint32_t kind, uint32_t address, uint32_t size);

  // A device broke a rule of its ports; `number` is how much or how many, `kind` as the rule has it.
  void broke(uint64_t cycle, uint32_t master, Rule rule, uint32_t kind, uint32_t address,
             uint32_t number);

  const Table& table() const { return table_; }
  const std::vector<Finding>& findings() const { return findings_; }
  uint64_t total() const { return total_; }

 private:
  enum Mode : uint8_t { kJudge, kFree, kTagged };

  struct Grant {
    uint16_t read_buffer;
    uint16_t write_buffer;
    Mode read;
    Mode write;
  };

  // A memory of which most may never be touched: only pages with several segments have numbers of
  // their own for each byte.
  struct Bytes {
    static constexpr uint32_t kPage = 4096;

    Bytes(uint32_t first, uint32_t count)
        : origin(first), size(count), page((count - 1) / kPage + 1), apart(count), tag(count) {}
    uint16_t segment(uint32_t offset) const {
      const uint16_t whole = page[offset / kPage];
      return whole == kNone ? apart[offset] : whole;
    }
    // Let bytes, counted from the origin, be of a segment.
    void cover(uint32_t first, uint32_t end, uint16_t segment);

    uint32_t origin;
    uint32_t size;
    std::vector<uint16_t> page;  // its segment, or kNone
    Zeros<uint16_t> apart;
    Zeros<uint32_t> tag;  // lifetime << 8 | master + 1, or 0
  };

  struct Segment {
    uint32_t start;
    uint32_t end;  // the last byte
    uint16_t pool;
    std::vector<uint16_t> buffers;
  };

  // By which buffer a master may read and write a segment now, and what stands against it.
  struct Claim {
    uint16_t read = kNone;
    uint16_t write = kNone;
    uint16_t clobbered = kNone;  // another live buffer that a write would hit
    uint16_t busy_read = kNone;  // an operator on another master that writes `read`
    uint16_t busy_write = kNone;
    bool shared = false;  // another part of the same operator writes `write` meanwhile
  };

  struct Verdict {
    uint32_t rule = kRules;  // none
    uint16_t buffer = kNone;
    uint16_t other = kNone;
    uint32_t writer = 0;
  };

  enum class Life : uint8_t { kUnborn, kLive, kDead };

  // Where the last access of one kind of a master ended, and in which buffer it was right.
  struct Edge {
    uint32_t next = 0;
    uint16_t buffer = kNone;
  };

  // shadow_setup.cpp
  bool make_segments();
  void let_fetch(uint32_t code, uint8_t free);
  void cut(const Bytes& bytes, std::vector<uint32_t>& cuts) const;

  // shadow_events.cpp
  void begin_run(uint64_t cycle);
  void end_run(uint64_t cycle);
  void begin_operator(uint32_t number);
  void begin_part(uint16_t part);
  void end_operator(uint64_t cycle, uint32_t number);
  void keep_in_place(uint16_t op);
  void check_copy(uint64_t cycle, uint16_t op);
  void check_outputs(uint64_t cycle);
  void check_output(uint64_t cycle, uint16_t buffer, bool all_ended);
  void check_constants(uint64_t cycle);
  void end_filling(uint64_t cycle, uint32_t master);
  void bear(uint16_t buffer);
  void fill(uint16_t buffer);
  void refresh(uint16_t buffer);
  void refresh_ports();
  void keep_states(bool renumbered);
  void refresh_all();

  // shadow_grants.cpp
  void grant(uint16_t segment);
  Claim claim(uint32_t master, uint16_t segment) const;
  void claim_workspace(uint32_t master, uint16_t buffer, Claim& found) const;
  uint16_t busy(uint32_t master, uint16_t buffer, uint8_t rights) const;
  bool shared(uint32_t master, uint16_t buffer) const;
  bool written_by_other(uint32_t master, uint16_t buffer, uint32_t tag) const;
  bool declared(uint32_t master, uint16_t written, uint16_t read) const;
  bool is_port(uint16_t buffer) const {
    return table_.buffers[buffer].ports & (kInput | kOutput);
  }
  bool is_state(uint16_t buffer) const { return table_.buffers[buffer].ports & kState; }
  bool idle_host(uint32_t master) const { return master == table_.host && running_ == 0; }

  // shadow.cpp
  Bytes* bytes_at(uint32_t address);
  bool holds(const Bytes& bytes, uint32_t first, uint32_t last, uint64_t enabled, uint16_t buffer,
             uint32_t offset) const;
  void mark(Bytes& bytes, uint32_t offset, uint64_t enabled, uint32_t master, uint16_t buffer);

  // shadow_judge.cpp
  void judge(uint64_t cycle, uint32_t master, uint32_t kind, uint32_t address, uint64_t enabled,
             Bytes& bytes);
  Verdict judge_byte(uint32_t master, uint32_t kind, uint32_t address, Bytes& bytes,
                     const Claim& claim);
  Verdict judge_read(uint32_t address, const Bytes& bytes, const Claim& claim) const;
  Verdict judge_value(uint16_t buffer, uint32_t tag) const;
  Verdict without_right(uint32_t master, uint32_t kind, uint32_t address, uint16_t segment,
                        uint32_t tag) const;
  Verdict in_fixed(uint32_t master, uint32_t kind, uint16_t buffer) const;
  Verdict in_workspace(uint32_t master, uint32_t kind, uint16_t segment, uint32_t tag) const;
  uint16_t run_past(uint32_t master, uint32_t kind, uint32_t address) const;
  bool below_stack(uint32_t master, uint16_t segment) const;
  bool starting_up(uint32_t master, uint32_t kind, uint32_t address, uint16_t segment) const;
  const Filled* filling(uint32_t master, uint32_t address) const;
  uint16_t arriving(uint32_t master, uint16_t segment) const;
  uint16_t blamed(uint32_t master) const;
  uint16_t holder(uint32_t tag) const;
  void report(uint64_t cycle, uint32_t master, uint32_t kind, uint32_t address, uint32_t size,
              const Verdict& verdict, uint16_t op, bool refused);

  bool loaded_ = false;
  Peek peek_ = nullptr;
  Table table_;
  std::vector<Bytes> memories_;
  std::vector<Segment> segments_;
  std::vector<std::pair<uint16_t, uint16_t>> spans_;  // first and last segment by buffer
  std::vector<Grant> grants_;                         // by master, then segment
  std::vector<uint8_t> fetch_;                        // likewise: code of this master
  std::vector<Edge> edges_;                           // by master, then kind

  bool inside_ = false;  // between a run's begin and its end
  uint32_t run_ = 0;     // runs begun
  uint32_t model_ = 0;
  uint32_t running_ = 0;             // operators under way
  uint32_t ended_ = 0;               // operators that ended in this run
  uint16_t latest_ = kNone;          // operator that began last
  std::vector<uint8_t> filling_;     // by what is filled: code that may still be on its way
  std::vector<uint8_t> starting_;    // by master: has not done anything for a network yet
  std::vector<uint16_t> active_;     // operator under way by master
  std::vector<uint64_t> moved_;      // bytes written by the copy under way, by master
  std::vector<Life> life_;           // by buffer
  std::vector<uint32_t> lifetime_;   // number of its latest lifetime, by buffer
  std::vector<uint16_t> born_;       // buffer by number of the lifetime

  std::vector<Finding> findings_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, size_t> known_;
  uint64_t total_ = 0;
};

}  // namespace shadow
