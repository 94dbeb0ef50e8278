// Drives one Verilated design: clock, reset, and AXI streams with stalls at both ends.
//
// Compiled once per machine and version, and linked with each design (design.cpp). The structures are mirrored in native.py; their fields
// go from large to small alignment, so that both sides lay them out alike.

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "design.h"
#include "verilated_vcd_c.h"

#define BRAINSMITH_API extern "C" __attribute__((visibility("default")))

using brainsmith::Design;
using brainsmith::Place;

namespace {

enum Outcome { RUNNING = 0, COMPLETE = 1, LIMIT = 2, FAULT = 3 };
enum StallKind { NEVER = 0, RANDOM = 1, PATTERN = 2, SCHEDULE = 3 };
enum Phase { IDLE = 0, MOVED = 1, BLOCKED = 2, STARVED = 3 }; // neither, both, only valid, only ready

struct StreamState {
    uint8_t* words;         // of all beats, one after the other
    uint64_t* moved_at;     // the cycle in which each beat moved
    const uint8_t* pattern; // 1 stalls; repeated
    const uint64_t* schedule; // the first cycle in which each beat may move
    uint64_t word_bytes;
    uint64_t beats;         // how many are to move
    uint64_t done;          // how many have
    uint64_t stalled;       // cycles in which the stall kept a beat that could have moved or been offered
    uint64_t waited;        // cycles in which the driver was willing and the design was not
    uint64_t surplus;       // cycles in which the design offered more than was asked for
    uint64_t pattern_length;
    uint64_t random_state;
    uint64_t threshold;     // a random number below it stalls
    int32_t data, valid, ready; // ports
    int32_t is_output;
    int32_t stall_kind;
    int32_t offered;
};

struct MonitorState { // a stream inside of the design, which is only looked at
    uint8_t* words;      // of the first beats, as many as there is room for
    uint64_t* moved_at;  // the cycle in which each of these moved
    uint8_t* phases;     // of each cycle of the run's window
    uint64_t word_bytes;
    uint64_t room;       // beats
    uint64_t done;       // how many have moved, which may be more than there is room for
    uint64_t blocked;    // cycles with a beat that was not taken
    uint64_t starved;    // cycles with nothing for a taker that was ready
    int32_t data, valid, ready; // ports
    int32_t phase;       // in the last cycle
};

struct RunState {
    StreamState* streams;
    MonitorState* monitors;
    uint64_t stream_count;
    uint64_t monitor_count;
    uint64_t window_begin;  // the first cycle whose phases are kept
    uint64_t window_cycles;
    uint64_t limit;  // cycles
    uint64_t drain;  // cycles after the last beat in which a surplus is looked for
    uint64_t reset_cycles;
    uint64_t cycle;
    uint64_t drained;
    int32_t clock, double_clock, reset; // ports; -1 where there is none
    int32_t reset_is_low;
    int32_t doubled;
};

thread_local std::string* messages = nullptr;
thread_local bool fault = false;
thread_local std::string* wave_failure = nullptr; // set while waveforms are written: then nothing may throw

void note(const std::string& text) {
    if (messages && messages->size() < 16384) *messages += text;
}

uint64_t next_random(uint64_t& state) { // splitmix64
    state += 0x9E3779B97F4A7C15ull;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

class Simulation {
public:
    explicit Simulation(const char* trace) {
        listen();
        context_.reset(new VerilatedContext);
        if (trace) context_->traceEverOn(true);
        top_.reset(brainsmith::make_design(context_.get()));
        ports_ = top_->ports();
        if (trace) {
            wave_.reset(new VerilatedVcdC);
            top_->trace(wave_.get());
            wave_->open(trace);
            if (!wave_->isOpen()) fail_waves(std::strerror(errno));
        }
    }

    ~Simulation() {
        try {
            finish();
        } catch (const std::exception&) { // whoever wanted to know has called it before
        }
    }

    void finish() { // after it `waves_failed` is final
        listen();
        if (finished_) return;
        finished_ = true;
        top_->final();
        if (wave_) write_waves([this] { wave_->close(); });
    }

    void fail(const char* what) {
        listen();
        note(std::string(what) + "\n");
        fault_ = true;
    }

    void start(RunState& run) {
        listen();
        for (uint64_t i = 0; i < run.stream_count; i++) {
            StreamState& s = run.streams[i];
            set(s.is_output ? s.ready : s.valid, 0);
        }
        set(run.reset, !run.reset_is_low);
        for (uint64_t i = 0; i < run.reset_cycles && !fault; i++) {
            fall(run);
            rise(run);
        }
        set(run.reset, run.reset_is_low);
    }

    int32_t step(RunState& run, uint64_t cycles) {
        listen();
        for (uint64_t i = 0; i < cycles; i++) {
            if (fault) return FAULT;
            bool pending = false;
            for (uint64_t k = 0; k < run.stream_count; k++) pending |= run.streams[k].done < run.streams[k].beats;
            if (!pending && run.drained >= run.drain) return COMPLETE;
            if (pending && run.cycle >= run.limit) return LIMIT;
            cycle(run, pending);
            run.drained += !pending;
        }
        return fault ? FAULT : RUNNING;
    }

    uint64_t value(int32_t port) const {
        uint64_t result = 0;
        const Place& place = ports_[port];
        std::memcpy(&result, place.address, place.bytes < 8 ? place.bytes : 8);
        return result;
    }

    const Place& state() const { return top_->state(); }

    void hold(int32_t port, uint64_t value) { // an input of at most 64 bits that keeps one value for the whole run
        const Place& place = ports_[port];
        std::memcpy(place.address, &value, place.bytes < 8 ? place.bytes : 8);
    }

    std::string text;
    std::string waves_failed; // why the waveforms are not whole; empty if they are

private:
    void fail_waves(const std::string& why) {
        waves_failed = why;
        fault_ = true;
    }

    // Verilator's writer closes its file after a failure only if vl_fatal returns; else its destructor tries again.
    template <class Write> void write_waves(Write write) {
        std::string failure;
        wave_failure = &failure;
        try {
            write();
        } catch (const std::exception& thrown) {
            failure = thrown.what();
        }
        wave_failure = nullptr;
        if (!failure.empty() && waves_failed.empty()) fail_waves(failure);
    }

    void listen() {
        messages = &text;
        fault = fault_;
    }

    void eval() {
        top_->eval();
        if (wave_) write_waves([this] { wave_->dump(context_->time()); });
        context_->timeInc(1);
        fault = fault_ = fault_ || fault;
    }

    void set(int32_t port, uint64_t value) {
        if (port >= 0) *static_cast<uint8_t*>(ports_[port].address) = static_cast<uint8_t>(value);
    }

    bool is_set(int32_t port) const { return *static_cast<const uint8_t*>(ports_[port].address) & 1; }

    // The first half of a cycle ends with the combinational paths from the new inputs settled.
    void fall(RunState& run) {
        if (run.doubled) { // inputs change after the edge that they follow, before the second fast one
            eval();
            set(run.clock, 0);
            set(run.double_clock, 1);
            eval();
            set(run.double_clock, 0);
        } else {
            set(run.clock, 0);
            set(run.double_clock, 0);
        }
        eval();
    }

    void rise(RunState& run) {
        set(run.clock, 1);
        set(run.double_clock, 1);
        eval();
        if (run.doubled) {
            set(run.double_clock, 0);
            eval();
        }
    }

    static bool stalls(StreamState& s, uint64_t cycle) {
        switch (s.stall_kind) {
        case RANDOM: return next_random(s.random_state) < s.threshold;
        case PATTERN: return s.pattern[cycle % s.pattern_length];
        case SCHEDULE: return s.done >= s.beats || cycle < s.schedule[s.done];
        default: return false;
        }
    }

    void offer(StreamState& s, uint64_t cycle) {
        if (s.is_output) {
            s.offered = s.done < s.beats && !stalls(s, cycle);
            set(s.ready, s.offered);
            return;
        }
        const bool stall = stalls(s, cycle);
        if (!s.offered && s.done < s.beats) { // a beat once offered stays so until it is taken
            if (stall) {
                s.stalled++;
            } else {
                s.offered = 1;
                std::memcpy(ports_[s.data].address, s.words + s.done * s.word_bytes, s.word_bytes);
            }
        }
        set(s.valid, s.offered);
    }

    void observe(StreamState& s, uint64_t cycle) {
        const bool willing = is_set(s.is_output ? s.valid : s.ready);
        if (s.is_output && s.done >= s.beats) {
            s.surplus += willing;
        } else if (s.offered && willing) {
            if (s.is_output) {
                std::memcpy(s.words + s.done * s.word_bytes, ports_[s.data].address, s.word_bytes);
            } else {
                s.offered = 0;
            }
            s.moved_at[s.done++] = cycle;
        } else if (s.offered) {
            s.waited++;
        } else if (s.is_output && willing) {
            s.stalled++;
        }
    }

    void look(MonitorState& m, const RunState& run) {
        const bool valid = is_set(m.valid), ready = is_set(m.ready);
        m.phase = valid ? (ready ? MOVED : BLOCKED) : (ready ? STARVED : IDLE);
        m.blocked += m.phase == BLOCKED;
        m.starved += m.phase == STARVED;
        if (m.phase == MOVED) {
            if (m.done < m.room) {
                std::memcpy(m.words + m.done * m.word_bytes, ports_[m.data].address, m.word_bytes);
                m.moved_at[m.done] = run.cycle;
            }
            m.done++;
        }
        const uint64_t at = run.cycle - run.window_begin; // before the window it is larger than any window
        if (at < run.window_cycles) m.phases[at] = static_cast<uint8_t>(m.phase);
    }

    void cycle(RunState& run, bool counted) { // what comes after the last beat is not counted
        for (uint64_t i = 0; i < run.stream_count; i++) offer(run.streams[i], run.cycle);
        fall(run);
        for (uint64_t i = 0; i < run.stream_count; i++) observe(run.streams[i], run.cycle);
        if (counted) for (uint64_t i = 0; i < run.monitor_count; i++) look(run.monitors[i], run);
        rise(run);
        run.cycle++;
    }

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Design> top_;
    const Place* ports_ = nullptr;
    bool fault_ = false, finished_ = false;
    std::unique_ptr<VerilatedVcdC> wave_;
};

} // namespace

extern "C" __attribute__((visibility("hidden"))) int brainsmith_print(const char* format, ...) {
    char buffer[2048];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    note(buffer);
    return length;
}

#undef fopen
FILE* std::brainsmith_fopen(const char* name, const char* mode) {
    const std::string path = name, folder = brainsmith::memories;
    const bool own = path.compare(0, folder.size(), folder) == 0 && path.find('/', folder.size()) == std::string::npos;
    if (own || *mode != 'r') return std::fopen(name, mode);
    note(path + ": not opened: a simulation reads only the memories of its plan\n");
    return nullptr;
}

static void end_with(const char* what, const char* file, int line, const char* scope) {
    note(std::string(file ? file : "") + ":" + std::to_string(line) + ": " + what
         + (scope && *scope ? std::string(" in ") + scope : "") + "\n");
    fault = true;
}

void vl_finish(const char* file, int line, const char* scope) VL_MT_UNSAFE { end_with("$finish", file, line, scope); }
void vl_stop(const char* file, int line, const char* scope) VL_MT_UNSAFE { end_with("$stop or $error", file, line, scope); }
void vl_warn(const char* file, int line, const char*, const char* message) VL_MT_UNSAFE { end_with(message, file, line, ""); }
void vl_fatal(const char* file, int line, const char*, const char* message) VL_MT_UNSAFE {
    if (wave_failure) {
        *wave_failure = message;
        return;
    }
    fault = true;
    throw std::runtime_error(std::string(file ? file : "") + ":" + std::to_string(line) + ": " + message);
}

BRAINSMITH_API Simulation* brainsmith_open(const char* trace, char* error, uint64_t error_size) {
    try {
        return new Simulation(trace);
    } catch (const std::exception& failure) {
        std::snprintf(error, error_size, "%s", failure.what());
        return nullptr;
    }
}

BRAINSMITH_API int32_t brainsmith_start(Simulation* simulation, RunState* run) {
    try {
        simulation->start(*run);
        return RUNNING;
    } catch (const std::exception& failure) {
        simulation->fail(failure.what());
        return FAULT;
    }
}

BRAINSMITH_API int32_t brainsmith_step(Simulation* simulation, RunState* run, uint64_t cycles) {
    try {
        return simulation->step(*run, cycles);
    } catch (const std::exception& failure) {
        simulation->fail(failure.what());
        return FAULT;
    }
}

BRAINSMITH_API int32_t brainsmith_finish(Simulation* simulation, char* error, uint64_t error_size) { // closes the waveforms
    try {
        simulation->finish();
        std::snprintf(error, error_size, "%s", simulation->waves_failed.c_str());
    } catch (const std::exception& failure) {
        std::snprintf(error, error_size, "%s", failure.what());
    }
    return *error ? FAULT : COMPLETE;
}

BRAINSMITH_API void brainsmith_hold(Simulation* simulation, int32_t port, uint64_t value) { simulation->hold(port, value); }
BRAINSMITH_API uint64_t brainsmith_value(Simulation* simulation, int32_t port) { return simulation->value(port); }
BRAINSMITH_API const void* brainsmith_state(Simulation* simulation) { return simulation->state().address; }
BRAINSMITH_API uint64_t brainsmith_state_bytes(Simulation* simulation) { return simulation->state().bytes; }
BRAINSMITH_API const char* brainsmith_messages(Simulation* simulation) { return simulation->text.c_str(); }
BRAINSMITH_API void brainsmith_close(Simulation* simulation) { delete simulation; }
BRAINSMITH_API uint64_t brainsmith_layout() { return (sizeof(RunState) * 1000 + sizeof(StreamState)) * 1000 + sizeof(MonitorState); }
