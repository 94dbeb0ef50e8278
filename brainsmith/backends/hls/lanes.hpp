// SPDX-License-Identifier: MIT
// The lanes of a beat: integers or single-precision numbers side by side in one ap_uint, the first one lowest.
#ifndef BRAINSMITH_LANES_HPP
#define BRAINSMITH_LANES_HPP

#include "ap_int.h"

namespace brainsmith {

// How a lane of a beat is read and written: Integer<8, true> is INT8, Float is FLOAT32.
template <int BITS, bool SIGNED>
struct Integer {
    enum { bits = BITS };
    typedef ap_uint<BITS> value;
    static value of(ap_uint<BITS> lane) { return lane; }
    static float real(value x) { return (float) x.to_uint64(); }
};

template <int BITS>
struct Integer<BITS, true> {
    enum { bits = BITS };
    typedef ap_int<BITS> value;
    static value of(ap_uint<BITS> lane) { return value(lane); }
    static float real(value x) { return (float) x.to_int64(); }
};

struct Float {
    enum { bits = 32 };
    typedef float value;
    static float of(ap_uint<32> lane) {
        union { unsigned bits; float number; } both;
        both.bits = lane.to_uint();
        return both.number;
    }
    static ap_uint<32> lane(float x) {
        union { unsigned bits; float number; } both;
        both.number = x;
        return ap_uint<32>(both.bits);
    }
    static float real(float x) { return x; }
};

template <class KIND, int WIDTH>
typename KIND::value take(const ap_uint<WIDTH> &beat, int lane) {
#pragma HLS INLINE
    ap_uint<KIND::bits> found = ap_uint<KIND::bits>(beat >> (lane * KIND::bits));
    return KIND::of(found);
}

template <int BITS, int WIDTH>
void put(ap_uint<WIDTH> &beat, int lane, ap_uint<BITS> value) {
#pragma HLS INLINE
    beat |= ap_uint<WIDTH>(value) << (lane * BITS);
}

}  // namespace brainsmith

#endif
