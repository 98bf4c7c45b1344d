/* SPDX-License-Identifier: Apache-2.0 */
// Runs TFLM's kernel tests without kernels: each operator that a test would invoke is printed.
//
// benchmarks/tflm_tests/cases.py compiles each test file with this header in the place of TFLM's
// kernel runner, test framework, schema and resolver. A line of output is one JSON object.
#ifndef ATOLL_TFLM_RECORDER_H_
#define ATOLL_TFLM_RECORDER_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/kernels/kernel_util.h"
#include "tensorflow/lite/micro/kernels/micro_ops.h"

namespace flatbuffers {
template <typename T>
struct Offset {};
template <typename T>
class Vector;
}  // namespace flatbuffers

namespace tflite {
struct Model;
struct Tensor;
struct Buffer;
struct Operator;
struct SubGraph;
enum TensorType { TensorType_INT8 };
enum BuiltinOperator { BuiltinOperator_CUSTOM };

template <unsigned count>
class MicroMutableOpResolver;

namespace cases {

// The tests, and the name of the one that runs.
inline std::vector<std::pair<std::string, void (*)()>> tests;
inline std::string current;
inline int runners = 0;

// Prints the options of an operator as the fields of its table; made for each operator.
std::string options(const char* code, const void* data);

struct Added {
  Added(const char* name, void (*test)()) { tests.emplace_back(name, test); }
};

inline std::string numbers(const TfLiteIntArray* array) {
  std::string text;
  for (int at = 0; array != nullptr && at < array->size; ++at) {
    text += (at ? "," : "") + std::to_string(array->data[at]);
  }
  return "[" + text + "]";
}

inline std::string real(float value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", static_cast<double>(value));
  return text;
}

inline std::string value(bool number) { return std::to_string(static_cast<int>(number)); }
inline std::string value(int number) { return std::to_string(number); }
inline std::string value(float number) { return real(number); }

// A field of an option table, as JSON.
template <typename Number>
std::string field(const char* name, Number number) {
  return std::string("\"") + name + "\":" + value(number);
}

inline std::string field(const char* name, const int32_t* values, int count) {
  std::string text;
  for (int at = 0; at < count; ++at) {
    text += (at ? "," : "") + std::to_string(values[at]);
  }
  return std::string("\"") + name + "\":[" + text + "]";
}

inline bool among(int number, const TfLiteIntArray* array) {
  for (int at = 0; array != nullptr && at < array->size; ++at) {
    if (array->data[at] == number) {
      return true;
    }
  }
  return false;
}

// Bytes of a tensor by its shape and type, since tests need not state them.
inline size_t size(const TfLiteTensor& given) {
  size_t items = 1;
  for (int at = 0; at < given.dims->size; ++at) {
    items *= given.dims->data[at];
  }
  return given.type == kTfLiteInt4 ? (items + 1) / 2 : items * TfLiteTypeGetSize(given.type);
}

// Shape, type, quantisation and bytes of a tensor that is not made, and whether it is a constant or a variable.
inline std::string tensor(const TfLiteTensor& given, bool made) {
  std::string text = std::string("{\"type\":\"") + TfLiteTypeGetName(given.type) + "\"";
  text += ",\"shape\":" + numbers(given.dims);
  text += ",\"constant\":" + std::to_string(given.allocation_type == kTfLiteMmapRo);
  text += ",\"variable\":" + std::to_string(given.is_variable && !made);
  const bool quantised = given.quantization.type == kTfLiteAffineQuantization;
  const auto* affine =
      quantised ? static_cast<const TfLiteAffineQuantization*>(given.quantization.params) : nullptr;
  if (affine != nullptr && affine->scale != nullptr) {
    std::string scales;
    for (int at = 0; at < affine->scale->size; ++at) {
      scales += (at ? "," : "") + real(affine->scale->data[at]);
    }
    text += ",\"scales\":[" + scales + "],\"zeros\":" + numbers(affine->zero_point);
    text += ",\"axis\":" + std::to_string(affine->quantized_dimension);
  } else if (given.params.scale != 0) {
    text += ",\"scales\":[" + real(given.params.scale) + "],\"zeros\":[";
    text += std::to_string(given.params.zero_point) + "],\"axis\":0";
  }
  text += ",\"bytes\":\"";
  const size_t count = made || given.data.raw == nullptr ? 0 : size(given);
  for (size_t at = 0; at < count; ++at) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(given.data.raw[at]));
    text += digits;
  }
  return text + "\"}";
}

}  // namespace cases

namespace micro {

// Takes what TFLM's kernel runner takes, and prints instead of computing.
class KernelRunner {
 public:
  template <typename... Others>
  KernelRunner(const TFLMRegistration& registration, TfLiteTensor* tensors, int count,
               TfLiteIntArray* inputs, TfLiteIntArray* outputs, const void* options,
               TfLiteIntArray* intermediates = nullptr, Others...)
      : code_(registration.custom_name),
        tensors_(tensors),
        count_(count),
        inputs_(inputs),
        outputs_(outputs),
        intermediates_(intermediates),
        options_(options),
        number_(cases::runners++) {}

  TfLiteStatus InitAndPrepare(const char* = nullptr, size_t = 0) { return kTfLiteOk; }

  TfLiteStatus Invoke() {
    std::string tensors;
    for (int at = 0; at < count_; ++at) {
      const bool made = cases::among(at, outputs_);
      const bool used = made || cases::among(at, inputs_) || cases::among(at, intermediates_);
      tensors += (at ? "," : "") + (used ? cases::tensor(tensors_[at], made) : "null");
    }
    std::printf("{\"test\":\"%s\",\"runner\":%d,\"code\":\"%s\",\"inputs\":%s,\"outputs\":%s,",
                cases::current.c_str(), number_, code_, cases::numbers(inputs_).c_str(),
                cases::numbers(outputs_).c_str());
    std::printf("\"intermediates\":%s,\"options\":{%s},\"tensors\":[%s]}\n",
                cases::numbers(intermediates_).c_str(), cases::options(code_, options_).c_str(),
                tensors.c_str());
    return kTfLiteOk;
  }

  TfLiteStatus Free() { return kTfLiteOk; }
  TfLiteStatus Reset() { return kTfLiteOk; }
  bool ValidateTempBufferDeallocated() { return true; }

 private:
  const char* code_;
  TfLiteTensor* tensors_;
  int count_;
  TfLiteIntArray* inputs_;
  TfLiteIntArray* outputs_;
  TfLiteIntArray* intermediates_;
  const void* options_;
  int number_;
};

}  // namespace micro
}  // namespace tflite

#define TEST(suite, name)                                                       \
  void suite##_##name();                                                        \
  static tflite::cases::Added suite##_##name##_added(#suite "." #name, suite##_##name); \
  void suite##_##name()

// Conditions are evaluated, since they run the operators; no result is judged.
#define ATOLL_BOTH(a, b) \
  do {                   \
    (void)(a);           \
    (void)(b);           \
  } while (false)
#define EXPECT_TRUE(a) (void)(a)
#define EXPECT_FALSE(a) (void)(a)
#define EXPECT_EQ(a, b) ATOLL_BOTH(a, b)
#define EXPECT_NE(a, b) ATOLL_BOTH(a, b)
#define EXPECT_GT(a, b) ATOLL_BOTH(a, b)
#define EXPECT_LT(a, b) ATOLL_BOTH(a, b)
#define EXPECT_GE(a, b) ATOLL_BOTH(a, b)
#define EXPECT_LE(a, b) ATOLL_BOTH(a, b)
#define EXPECT_FLOAT_EQ(a, b) ATOLL_BOTH(a, b)
#define EXPECT_STREQ(a, b) ATOLL_BOTH(a, b)
#define EXPECT_NEAR(a, b, epsilon) ATOLL_BOTH(a, b)
#define ASSERT_TRUE EXPECT_TRUE
#define ASSERT_FALSE EXPECT_FALSE
#define ASSERT_EQ EXPECT_EQ
#define ASSERT_NE EXPECT_NE
#define ASSERT_GT EXPECT_GT
#define ASSERT_LT EXPECT_LT
#define ASSERT_GE EXPECT_GE
#define ASSERT_LE EXPECT_LE
#define ASSERT_FLOAT_EQ EXPECT_FLOAT_EQ
#define ASSERT_NEAR EXPECT_NEAR
#define ADD_FAILURE(text) (void)0
#define FAIL(...) return

#define TF_LITE_MICRO_TESTS_MAIN                           \
  int main() {                                             \
    for (const auto& [name, test] : tflite::cases::tests) { \
      tflite::cases::current = name;                       \
      test();                                              \
    }                                                      \
  }

#endif  // ATOLL_TFLM_RECORDER_H_
