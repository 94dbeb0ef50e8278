// One Verilated design for the driver: at the end of the last translation unit of it, after its header, BRAINSMITH_PORTS and
// BRAINSMITH_MEMORIES.
#include "design.h"

#ifdef BRAINSMITH_TRACE
#include "verilated_vcd_c.h"
#endif

#ifdef BRAINSMITH_STATE
#include "Vtop___024root.h"
#include "Vtop__Syms.h"
#define BRAINSMITH_STATE_OF(TOP) {(TOP).rootp->vlSymsp, sizeof(Vtop__Syms)}
#else
#define BRAINSMITH_STATE_OF(TOP) {nullptr, 0}
#endif

namespace {

class Top final : public brainsmith::Design {
public:
    explicit Top(VerilatedContext* context) : top_{context, "top"} {}

    void eval() override { top_.eval(); }
    void final() override { top_.final(); }

    void trace(VerilatedVcdC* wave) override {
#ifdef BRAINSMITH_TRACE
        top_.trace(wave, 99);
#endif
    }

    const brainsmith::Place* ports() const override { return ports_; }
    const brainsmith::Place& state() const override { return state_; }

private:
    Vtop top_;
    const brainsmith::Place ports_[BRAINSMITH_PORT_COUNT + 1] = {BRAINSMITH_PORTS(top_){nullptr, 0}};
    const brainsmith::Place state_ = BRAINSMITH_STATE_OF(top_);
};

} // namespace

brainsmith::Design* brainsmith::make_design(VerilatedContext* context) { return new Top{context}; }
const char* const brainsmith::memories = BRAINSMITH_MEMORIES;
