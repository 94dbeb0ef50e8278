// SPDX-License-Identifier: MIT
// Layer normalisation over rows, of integers (bit for bit IntegerLayerNorm of the kernel) or of floats.
//
// Three processes work on three rows at a time: sums, the reciprocal root of the deviation, the normalised elements.
#ifndef BRAINSMITH_LAYER_NORM_HPP
#define BRAINSMITH_LAYER_NORM_HPP

#include <cmath>

#include "ap_int.h"
#include "hls_stream.h"
#include "lanes.hpp"

namespace brainsmith {

// P states: rows, size, simd, the kind `input`, and the widths and constants of IntegerLayerNorm.
template <class P>
struct RowSums {
    ap_int<P::sum_bits> sum;
    ap_uint<P::square_bits> squares;
};

template <class P>
struct RowRoot {
    ap_int<P::sum_bits> sum;
    ap_uint<P::root_bits> root;
};

template <class P, int IN>
void layer_norm_sums(
    hls::stream<ap_uint<IN>> &in, hls::stream<ap_uint<IN>> &kept, hls::stream<RowSums<P>> &sums) {
    for (int row = 0; row < P::rows; row++) {
        RowSums<P> total;
        total.sum = 0;
        total.squares = 0;
        for (int at = 0; at < P::size / P::simd; at++) {
#pragma HLS PIPELINE II=1
            ap_uint<IN> beat = in.read();
            for (int lane = 0; lane < P::simd; lane++) {
#pragma HLS UNROLL
                typename P::input::value x = take<typename P::input>(beat, lane);
                total.sum += x;
                total.squares += x * x;
            }
            kept.write(beat);
        }
        sums.write(total);
    }
}

template <class P>
void layer_norm_root(hls::stream<RowSums<P>> &sums, hls::stream<RowRoot<P>> &roots) {
    for (int row = 0; row < P::rows; row++) {
        RowSums<P> total = sums.read();
        // Modulo 2^deviation_bits, into which the result fits.
        ap_uint<P::deviation_bits> deviation = total.squares * ap_uint<32>(P::size) - total.sum * total.sum;
        deviation += ap_uint<P::deviation_bits>(P::epsilon_term);
        ap_uint<P::remainder_bits> remainder = ap_uint<P::remainder_bits>(1) << P::remainder_start;
        ap_uint<P::remainder_bits> product = 0;
        ap_uint<P::root_bits> root = 0;
        for (int step = 0; step < P::root_bits; step++) {
#pragma HLS PIPELINE II=1
            ap_uint<P::remainder_bits> trial = (product << 2) + deviation;
            bool bit = trial <= remainder;
            if (bit) remainder -= trial;
            remainder <<= 2;
            product = (product << 1) + (bit ? deviation : ap_uint<P::deviation_bits>(0));
            root = (root << 1) | ap_uint<P::root_bits>(bit);
        }
        RowRoot<P> found;
        found.sum = total.sum;
        found.root = root;
        roots.write(found);
    }
}

template <class P, int IN, int OUT>
void layer_norm_scale(
    hls::stream<ap_uint<IN>> &kept, hls::stream<RowRoot<P>> &roots, hls::stream<ap_uint<OUT>> &out) {
    const ap_int<P::product_bits> half = ap_int<P::product_bits>(1) << (P::drop - 1);
    const ap_int<P::product_bits> limit = ap_int<P::product_bits>(1) << (P::output_bits - 1);
    for (int row = 0; row < P::rows; row++) {
        RowRoot<P> found = roots.read();
        for (int at = 0; at < P::size / P::simd; at++) {
#pragma HLS PIPELINE II=1
            ap_uint<IN> beat = kept.read();
            ap_uint<OUT> given = 0;
            for (int lane = 0; lane < P::simd; lane++) {
#pragma HLS UNROLL
                ap_int<P::centred_bits> centred =
                    take<typename P::input>(beat, lane) * ap_int<32>(P::size) - found.sum;
                ap_int<P::product_bits> rounded = centred * found.root + half;
                rounded >>= P::drop;
                if (rounded >= limit) rounded = limit - 1;
                if (rounded < -limit) rounded = -limit;
                put<P::output_bits>(given, lane, ap_uint<P::output_bits>(rounded));
            }
            out.write(given);
        }
    }
}

template <class P, int IN, int OUT>
void layer_norm(hls::stream<ap_uint<IN>> &in, hls::stream<ap_uint<OUT>> &out) {
#pragma HLS DATAFLOW
    const int depth = P::kept_beats;
    hls::stream<ap_uint<IN>> kept("kept");
#pragma HLS STREAM variable=kept depth=depth
    hls::stream<RowSums<P>> sums("sums");
    hls::stream<RowRoot<P>> roots("roots");
    layer_norm_sums<P>(in, kept, sums);
    layer_norm_root<P>(sums, roots);
    layer_norm_scale<P>(kept, roots, out);
}

// The same of real numbers; P states rows, size, simd and `input`.
template <class P, int IN, int OUT>
void layer_norm_float(hls::stream<ap_uint<IN>> &in, hls::stream<ap_uint<OUT>> &out, float epsilon) {
    for (int row = 0; row < P::rows; row++) {
        float kept[P::size];
        float sum = 0, squares = 0;
        for (int at = 0; at < P::size / P::simd; at++) {
            ap_uint<IN> beat = in.read();
            for (int lane = 0; lane < P::simd; lane++) {
                kept[at * P::simd + lane] = P::input::real(take<typename P::input>(beat, lane));
                sum += kept[at * P::simd + lane];
            }
        }
        float mean = sum / (float) P::size;
        for (int at = 0; at < P::size; at++) {
            float centred = kept[at] - mean;
            squares += centred * centred;
        }
        float inverse = 1.0f / std::sqrt(squares / (float) P::size + epsilon);
        for (int at = 0; at < P::size / P::simd; at++) {
#pragma HLS PIPELINE II=1
            ap_uint<OUT> given = 0;
            for (int lane = 0; lane < P::simd; lane++) {
#pragma HLS UNROLL
                put<32>(given, lane, Float::lane((kept[at * P::simd + lane] - mean) * inverse));
            }
            out.write(given);
        }
    }
}

}  // namespace brainsmith

#endif
