// One Verilated design for the driver: at the end of the last translation unit of it, after its header, BRAINSMITH_PORTS and
// BRAINSMITH_MEMORIES.
#include "design.h"

#ifdef BRAINSMITH_TRACE
#include "verilated_vcd_c.h"
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

private:
    Vtop top_;
    const brainsmith::Place ports_[BRAINSMITH_PORT_COUNT + 1] = {BRAINSMITH_PORTS(top_){nullptr, 0}};
};

} // namespace

brainsmith::Design* brainsmith::make_design(VerilatedContext* context) { return new Top{context}; }
const char* const brainsmith::memories = BRAINSMITH_MEMORIES;
