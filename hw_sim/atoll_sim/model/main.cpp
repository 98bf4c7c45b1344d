// SPDX-License-Identifier: Apache-2.0
// The simulator's main: the clocks run here, and cocotb is woken only for what it waits for.
//
//   model --map FILE       run the cocotb test that the environment names; memory_map.h has the file
//   model --bare IMAGE N   load IMAGE, answer N requests, leave; no Python (speed comparison)
//   model --judge FOLDER   run one sample up to the first fault, see judge.h; no Python
//   --waves FILE SETTINGS  record waveforms, see recorder.h (only models built for it)
//   --shadow FILE          hold every access against the packed contract in FILE
//   --seed N               decides what registers hold before they are reset, 1 if not given
//   --hold N               in N of 256 cycles, no new request of an accelerator passes

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "Vtop.h"
#include "backdoor.h"
#include "chip.h"
#include "clocks.h"
#include "judge.h"
#include "monitor.h"
#include "verilated.h"
#include "verilated_vpi.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif
#if VM_TRACE
#include "recorder.h"
#endif

extern "C" void vlog_startup_routines_bootstrap(void);
class Vtop___024root;
void Vtop___024root___eval(Vtop___024root*);

namespace {

constexpr uint64_t kNever = ~0ULL;
constexpr int kRandom = 2;  // of VerilatedContext::randReset

// The Verilated model with its clocks.
class Model {
 public:
  Model(const char* map, int seed, const char* waves, [[maybe_unused]] const char* settings) {
    context_.reset(new VerilatedContext);
    context_->randReset(kRandom);
    context_->randSeed(seed);
    Verilated::threadContextp(context_.get());
    context_->traceEverOn(waves != nullptr);
    top_.reset(new Vtop(context_.get(), ""));
    mapped_ = map && chip::load_map(map, *top_);
#if VM_TRACE
    if (waves) recorder_.reset(new recorder::Recorder(*top_, waves, settings));
#endif
    if (!mapped_) return;
    chip::power_up(*top_);
    clocks_.reset(new chip::Clocks(*top_));
  }

  ~Model() {
    top_->final();
#if VM_COVERAGE
    // Each instance by its own name: else all that are alike are one, whose name has a star.
    context_->coveragep()->forcePerInstance(true);
    context_->coveragep()->write("coverage.dat");
#endif
  }

  Vtop& top() { return *top_; }
  bool mapped() const { return mapped_; }
  bool finished() const { return context_->gotFinish(); }

  // The work of Vtop::eval. What it does besides, in each call, is for classes, threads and waveforms.
  void eval() {
#if !VM_TRACE
    if (begun_) return Vtop___024root___eval(top_->rootp);
    begun_ = true;
#endif
    top_->eval();
  }

  void dump() {
#if VM_TRACE
    if (recorder_) recorder_->dump(context_->time());
#endif
  }

  // Move to the next edge of a clock, or to `deadline` if that comes first; true on an edge.
  bool advance(uint64_t deadline) {
    const bool edge = clocks_->next() <= deadline;
    context_->time(edge ? clocks_->next() : deadline);
    if (!edge) return false;
    if (!clocks_->toggle() || !top_->clk_i) return true;
    monitor::Log& log = monitor::log();
    ++log.cycle;
#ifdef ATOLL_CHIP_BENCH
    top_->bench_findings_i = static_cast<uint32_t>(monitor::watcher().total());
#endif
    if (top_->lines_o != log.high) monitor::saw_lines(top_->lines_o);
    return true;
  }

 private:
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vtop> top_;
#if VM_TRACE
  std::unique_ptr<recorder::Recorder> recorder_;
#endif
  std::unique_ptr<chip::Clocks> clocks_;
  bool mapped_ = false;
  bool begun_ = false;
};

Model* model = nullptr;

// Deliver value changes until nobody reacts any more; true if somebody did.
bool deliver_changes() {
  bool any = false;
  while (VerilatedVpi::callValueCbs()) any = true;
  return any;
}

// Finish the present time step: let cocotb write, settle the model, let cocotb read.
void settle() {
  do {
    do {
      VerilatedVpi::clearEvalNeeded();
      VerilatedVpi::doInertialPuts();
      model->eval();
      deliver_changes();
    } while (VerilatedVpi::evalNeeded());
    VerilatedVpi::callCbs(cbReadWriteSynch);
    VerilatedVpi::doInertialPuts();
    deliver_changes();
  } while (VerilatedVpi::evalNeeded());
  VerilatedVpi::callCbs(cbReadOnlySynch);
  model->dump();
}

// Run the clock until something happens that cocotb waits for; the time step is left open.
void run_until_awaited() {
  const uint64_t deadline = VerilatedVpi::cbNextDeadline();
  bool step = VerilatedVpi::hasCbs(cbNextSimTime);
  while (!model->finished()) {
    const bool edge = model->advance(deadline);
#ifdef ATOLL_CHIP_BENCH
    const bool clocked = deliver_changes();  // who waits for a clock reads what was there before
#else
    constexpr bool clocked = false;
#endif
    if (step) {
      VerilatedVpi::callCbs(cbNextSimTime);
      deliver_changes();
    }
    if (!edge || Verilated::threadContextp()->time() == deadline) {
      VerilatedVpi::callTimedCbs();
      deliver_changes();
      return;
    }
    model->eval();
    if (VerilatedVpi::callValueCbs() || step || clocked || VerilatedVpi::evalNeeded()) return;
    model->dump();
  }
}

int run_cocotb() {
  vlog_startup_routines_bootstrap();
  VerilatedVpi::callCbs(cbStartOfSimulation);
  deliver_changes();
  while (!model->finished()) {
    settle();
    if (model->finished()) break;
    run_until_awaited();
  }
  VerilatedVpi::callCbs(cbEndOfSimulation);
  return Verilated::threadContextp()->errorCount() > 0;
}

// The test bench's part of the protocol (docs/platform.md), as far as speed needs it.
bool answer_events(size_t& seen, unsigned& requests) {
  const auto& events = monitor::log().events;
  for (; seen < events.size(); ++seen) {
    const uint32_t kind = events[seen].kind;
    if (kind == record::kExit || kind == record::kTrap || kind == record::kRests) return false;
    if (events[seen].kind != record::kTrace) continue;
    const uint32_t event = console::event_of(events[seen].value);
    if (event == console::kReady) {
      model->top().request_i = requests ? console::kRun : console::kLeave;
      requests -= requests > 0;
    }
    if (event == console::kRunBegin) model->top().request_i = console::kNone;
  }
  return true;
}

int run_bare(const char* image, unsigned requests) {
  if (!backdoor::load_image(image)) {
    std::fprintf(stderr, "cannot load '%s'\n", image);
    return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  const monitor::Log& log = monitor::log();
  size_t seen = 0;
  do {
    model->top().rst_ni = log.cycle >= record::kResetCycles;
    model->advance(kNever);
    model->eval();
    model->dump();
  } while (!model->finished() && (seen == log.events.size() || answer_events(seen, requests)));
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::printf("{\"cycles\": %llu, \"seconds\": %.6f}\n",
              static_cast<unsigned long long>(log.cycle), wall.count());
  return 0;
}

int run_judged(const char* folder) {
  judge::Judge judge;
  if (const char* damaged = judge.load(folder)) {
    std::fprintf(stderr, "cannot load '%s/%s'\n", folder, damaged);
    return 1;
  }
  uint32_t request = console::kNone;
  do {
    model->top().request_i = request;
    model->top().rst_ni = monitor::log().cycle >= record::kResetCycles;
    model->advance(kNever);
    model->eval();
  } while (!model->finished() && judge.go_on(request));
  judge.print();
  return 0;
}

}  // namespace

// Called from Python, monitors.py.
extern "C" void atoll_set_request(uint32_t value) { model->top().request_i = value; }

int main(int argc, char** argv) {
  const char* map = nullptr;
  const char* waves = nullptr;
  const char* settings = nullptr;
  const char* image = nullptr;
  const char* contract = nullptr;
  const char* folder = nullptr;
  unsigned requests = 0;
  int seed = 1;
  int hold = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--map") && i + 1 < argc) map = argv[++i];
    if (!std::strcmp(argv[i], "--shadow") && i + 1 < argc) contract = argv[++i];
    if (!std::strcmp(argv[i], "--judge") && i + 1 < argc) folder = argv[++i];
    if (!std::strcmp(argv[i], "--seed") && i + 1 < argc) seed = std::atoi(argv[++i]);
    if (!std::strcmp(argv[i], "--hold") && i + 1 < argc) hold = std::atoi(argv[++i]);
    if (!std::strcmp(argv[i], "--waves") && i + 2 < argc) {
      waves = argv[++i];
      settings = argv[++i];
    }
    if (!std::strcmp(argv[i], "--bare") && i + 2 < argc) {
      image = argv[++i];
      requests = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    }
  }
  Model only(map, seed, waves, settings);
  model = &only;
  if (!only.mapped()) {
    std::fprintf(stderr, "cannot load '%s'\n", map ? map : "--map");
    return 1;
  }
  if (hold && !chip::hold_up(only.top(), static_cast<uint8_t>(hold))) {
    std::fprintf(stderr, "nothing can hold up what accelerators ask for\n");
    return 1;
  }
  Verilated::threadContextp()->commandArgs(argc, argv);
  Verilated::threadContextp()->fatalOnVpiError(false);
  if (const char* missing = backdoor::open()) {
    std::fprintf(stderr, "the model lacks memory '%s'\n", missing);
    return 1;
  }
  if (contract && !monitor::hold_against(contract)) {
    std::fprintf(stderr, "cannot load '%s'\n", contract);
    return 1;
  }
  if (folder) return run_judged(folder);
  return image ? run_bare(image, requests) : run_cocotb();
}
