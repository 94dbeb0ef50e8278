// What the driver knows of a Verilated design. The driver is compiled once per machine and version, and not with each design.
#pragma once
#include <cstddef>
#include "verilated.h"

class VerilatedVcdC;

namespace brainsmith {

struct Place {
    void* address;
    size_t bytes;
};

struct Design {
    virtual ~Design() = default;
    virtual void eval() = 0;
    virtual void final() = 0;
    virtual void trace(VerilatedVcdC* wave) = 0;
    virtual const Place* ports() const = 0;
    virtual const Place& state() const = 0; // all registers, nets and memories; no bytes where they are not known
};

// Defined with each design.
Design* make_design(VerilatedContext* context);
extern const char* const memories; // the folder of the files that it reads

} // namespace brainsmith
