// The contract of an image as shadow_table.py packs it: little-endian words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shadow {

constexpr uint16_t kNone = 0xffff;
constexpr uint32_t kNoWord = 0xffffffff;
constexpr uint32_t kNever = 0xfffffffe;

enum AccessKind : uint32_t { kRead, kWrite, kFetch, kAccessKinds };
enum BufferKind : uint32_t { kWorkspace, kConstant, kHeap, kCode, kData, kStack, kBeyondStack };
enum Port : uint32_t { kInput = 1, kOutput = 2 };
enum Right : uint8_t { kReads = 1, kWrites = 2 };

struct Master {
  uint32_t beat;  // reads show whole beats of so many bytes; 1: exactly what is read
};

struct Span {
  uint32_t origin;
  uint32_t size;
};

struct Pool {
  Span span;
  uint32_t readers;  // one bit per master
  uint32_t writers;
};

struct Buffer {
  Span span;
  uint32_t alignment;
  uint32_t kind;
  uint32_t owner;  // master of code, data and stacks; else number of the model
  uint32_t ports;
  uint32_t last;  // operator that ends its lifetime; kNoWord: the caller reads it after the run,
                  // or it never ends; kNever: nobody reads it, it is dead as a run begins

  bool aligned() const { return span.origin % alignment == 0; }
  uint32_t last_byte() const { return span.origin + (span.size - 1); }
};

// What a constant must hold.
struct Content {
  uint32_t buffer;
  uint32_t crc;
};

struct Model {
  uint32_t first;  // operator 0
  uint32_t count;
};

// Lists are positions in `Table::lists`.
struct Operator {
  uint32_t master;  // kNoWord: no such operator
  uint32_t reads;
  uint32_t read_count;
  uint32_t writes;
  uint32_t write_count;
  uint32_t overlaps;  // pairs: a written buffer, the one it may overlap
  uint32_t overlap_count;
  uint32_t source;  // of a copy, else kNoWord
  uint32_t destination;
};

struct Table {
  uint32_t host = 0;
  std::vector<Master> masters;
  std::vector<Span> memories;
  std::vector<Pool> pools;
  std::vector<Buffer> buffers;
  std::vector<Model> models;
  std::vector<Operator> operators;
  std::vector<Span> filled;  // constants that the host writes before the first run
  std::vector<Content> contents;
  std::vector<uint32_t> lists;
  std::vector<uint8_t> rights;  // by operator, then buffer

  // Read the packed form; false if its numbers do not fit together.
  bool unpack(const uint32_t* words, size_t count);

  uint8_t right(uint16_t op, uint16_t buffer) const {
    return op == kNone ? 0 : rights[op * buffers.size() + buffer];
  }

 private:
  bool sound() const;
  void list_rights();
};

}  // namespace shadow
