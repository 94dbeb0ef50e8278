// SPDX-License-Identifier: MIT
// Softmax over rows, of integers (bit for bit IntegerSoftmax of the kernel) or of floats.
//
// Four processes work on four rows at a time: the greatest element, the powers and their sum, the sum's reciprocal,
// the products.
#ifndef BRAINSMITH_SOFTMAX_HPP
#define BRAINSMITH_SOFTMAX_HPP

#include <cmath>

#include "ap_int.h"
#include "hls_stream.h"
#include "lanes.hpp"

namespace brainsmith {

// P states: rows, size, simd, the kind `input`, the widths of IntegerSoftmax, and its table as P::power(address).
template <class P, int IN>
void softmax_maximum(
    hls::stream<ap_uint<IN>> &in, hls::stream<ap_uint<IN>> &kept,
    hls::stream<typename P::input::value> &greatest) {
    for (int row = 0; row < P::rows; row++) {
        typename P::input::value most = 0;
        for (int at = 0; at < P::size / P::simd; at++) {
#pragma HLS PIPELINE II=1
            ap_uint<IN> beat = in.read();
            for (int lane = 0; lane < P::simd; lane++) {
#pragma HLS UNROLL
                typename P::input::value x = take<typename P::input>(beat, lane);
                if ((at == 0 && lane == 0) || x > most) most = x;
            }
            kept.write(beat);
        }
        greatest.write(most);
    }
}

template <class P, int IN, int POWERS>
void softmax_powers(
    hls::stream<ap_uint<IN>> &kept, hls::stream<typename P::input::value> &greatest,
    hls::stream<ap_uint<POWERS>> &powers, hls::stream<ap_uint<P::sum_bits>> &sums) {
    const ap_uint<P::input::bits> last = ap_uint<P::input::bits>((1u << P::address_bits) - 1u);
    for (int row = 0; row < P::rows; row++) {
        typename P::input::value most = greatest.read();
        ap_uint<P::sum_bits> sum = 0;
        for (int at = 0; at < P::size / P::simd; at++) {
#pragma HLS PIPELINE II=1
            ap_uint<IN> beat = kept.read();
            ap_uint<POWERS> given = 0;
            for (int lane = 0; lane < P::simd; lane++) {
#pragma HLS UNROLL
                ap_uint<P::input::bits> difference =
                    ap_uint<P::input::bits>(most - take<typename P::input>(beat, lane));
                if (difference > last) difference = last;
                ap_uint<P::power_bits> power = P::power(difference.to_uint());
                sum += power;
                put<P::power_bits>(given, lane, power);
            }
            powers.write(given);
        }
        sums.write(sum);
    }
}

template <class P>
void softmax_reciprocal(
    hls::stream<ap_uint<P::sum_bits>> &sums, hls::stream<ap_uint<P::reciprocal_bits>> &reciprocals) {
    for (int row = 0; row < P::rows; row++) {
        ap_uint<P::sum_bits> sum = sums.read();
        ap_uint<P::sum_bits + 1> remainder = ap_uint<P::sum_bits + 1>(1) << (P::power_bits - 1);
        ap_uint<P::reciprocal_bits> quotient = 0;
        for (int step = 0; step < P::reciprocal_bits; step++) {
#pragma HLS PIPELINE II=1
            bool bit = remainder >= sum;
            if (bit) remainder -= sum;
            remainder <<= 1;
            quotient = (quotient << 1) | ap_uint<P::reciprocal_bits>(bit);
        }
        reciprocals.write(quotient);
    }
}

template <class P, int POWERS, int OUT>
void softmax_scale(
    hls::stream<ap_uint<POWERS>> &powers, hls::stream<ap_uint<P::reciprocal_bits>> &reciprocals,
    hls::stream<ap_uint<OUT>> &out) {
    typedef ap_uint<P::power_bits + P::reciprocal_bits + 1> Product;
    typedef ap_uint<P::output_bits + 1> Wide;
    const Product half = Product(1) << (P::drop - 1);
    const Product limit = Product((1ull << P::output_bits) - 1ull);
    for (int row = 0; row < P::rows; row++) {
        ap_uint<P::reciprocal_bits> reciprocal = reciprocals.read();
        for (int at = 0; at < P::size / P::simd; at++) {
#pragma HLS PIPELINE II=1
            ap_uint<POWERS> beat = powers.read();
            ap_uint<OUT> given = 0;
            for (int lane = 0; lane < P::simd; lane++) {
#pragma HLS UNROLL
                Product rounded = take<Integer<P::power_bits, false> >(beat, lane) * reciprocal + half;
                rounded >>= P::drop;
                if (rounded > limit) rounded = limit;
                put<P::output_bits>(given, lane, ap_uint<P::output_bits>(rounded));
            }
            out.write(given);
        }
    }
}

template <class P, int IN, int OUT>
void softmax(hls::stream<ap_uint<IN>> &in, hls::stream<ap_uint<OUT>> &out) {
#pragma HLS DATAFLOW
    const int depth = P::kept_beats;
    hls::stream<ap_uint<IN>> kept("kept");
#pragma HLS STREAM variable=kept depth=depth
    hls::stream<ap_uint<P::power_bits * P::simd>> powers("powers");
#pragma HLS STREAM variable=powers depth=depth
    hls::stream<typename P::input::value> greatest("greatest");
    hls::stream<ap_uint<P::sum_bits>> sums("sums");
    hls::stream<ap_uint<P::reciprocal_bits>> reciprocals("reciprocals");
    softmax_maximum<P>(in, kept, greatest);
    softmax_powers<P>(kept, greatest, powers, sums);
    softmax_reciprocal<P>(sums, reciprocals);
    softmax_scale<P>(powers, reciprocals, out);
}

// The same of real numbers; P states rows, size, simd and `input`.
template <class P, int IN, int OUT>
void softmax_float(hls::stream<ap_uint<IN>> &in, hls::stream<ap_uint<OUT>> &out) {
    for (int row = 0; row < P::rows; row++) {
        float kept[P::size];
        float most = 0, sum = 0;
        for (int at = 0; at < P::size / P::simd; at++) {
            ap_uint<IN> beat = in.read();
            for (int lane = 0; lane < P::simd; lane++) {
                float x = P::input::real(take<typename P::input>(beat, lane));
                if ((at == 0 && lane == 0) || x > most) most = x;
                kept[at * P::simd + lane] = x;
            }
        }
        for (int at = 0; at < P::size; at++) {
            kept[at] = std::exp(kept[at] - most);
            sum += kept[at];
        }
        for (int at = 0; at < P::size / P::simd; at++) {
#pragma HLS PIPELINE II=1
            ap_uint<OUT> given = 0;
            for (int lane = 0; lane < P::simd; lane++) {
#pragma HLS UNROLL
                put<32>(given, lane, Float::lane(kept[at * P::simd + lane] / sum));
            }
            out.write(given);
        }
    }
}

}  // namespace brainsmith

#endif
