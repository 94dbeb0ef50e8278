// SPDX-License-Identifier: MIT
// The product of two streamed matrices: the right-hand one is collected, then each left-hand row is multiplied by it,
// PE columns and SIMD products a cycle.
//
// The two functions of `mat_mul` are processes of a dataflow region and the memory between them has two buffers, so
// the next matrix is collected while one is used. Streams are row-major, the first value of a beat in the lowest bits.
#ifndef BRAINSMITH_MAT_MUL_HPP
#define BRAINSMITH_MAT_MUL_HPP

#include "ap_int.h"
#include "hls_stream.h"

#include "lanes.hpp"

namespace brainsmith {

// A lane of one bit for -1 or 1.
struct Bipolar {
    enum { bits = 1 };
    typedef ap_int<2> value;
    static value of(ap_uint<1> lane) { return lane == 1 ? value(1) : value(-1); }
};

// The sizes of a product, and of its memory: a word has PE columns, SIMD words side by side are SIMD rows.
template <int M, int K, int N, int COLUMNS_AT_ONCE, int ROWS_AT_ONCE, class LHS_KIND, class RHS_KIND, int BITS>
struct Product {
    typedef LHS_KIND lhs;
    typedef RHS_KIND rhs;
    enum { rows = M, depth = K, columns = N, pe = COLUMNS_AT_ONCE, simd = ROWS_AT_ONCE, out_bits = BITS };
    enum { parts = K / ROWS_AT_ONCE, groups = N / COLUMNS_AT_ONCE, words = parts * groups };
    typedef ap_uint<ROWS_AT_ONCE * LHS_KIND::bits> lhs_beat;
    typedef ap_uint<COLUMNS_AT_ONCE * RHS_KIND::bits> rhs_beat;
    typedef ap_uint<COLUMNS_AT_ONCE * BITS> out_beat;
};

template <class P>
void collect_matrix(hls::stream<typename P::rhs_beat> &rhs, typename P::rhs_beat words[P::simd][P::words]) {
    for (int part = 0; part < P::parts; part++) {
        for (int lane = 0; lane < P::simd; lane++) {
            for (int group = 0; group < P::groups; group++) {
#pragma HLS PIPELINE II=1
                words[lane][group * P::parts + part] = rhs.read();
            }
        }
    }
}

template <class P>
void multiply_rows(
    hls::stream<typename P::lhs_beat> &lhs, typename P::rhs_beat words[P::simd][P::words],
    hls::stream<typename P::out_beat> &out
) {
    typename P::lhs_beat kept[P::parts];
    ap_int<P::out_bits> sums[P::pe];
#pragma HLS ARRAY_PARTITION variable=sums complete
    for (int row = 0; row < P::rows; row++) {
        for (int group = 0; group < P::groups; group++) {
            for (int part = 0; part < P::parts; part++) {
#pragma HLS PIPELINE II=1
                if (group == 0) kept[part] = lhs.read();
                const typename P::lhs_beat ones = kept[part];
                typename P::out_beat beat = 0;
                for (int p = 0; p < P::pe; p++) {
#pragma HLS UNROLL
                    ap_int<P::out_bits> sum = 0;
                    if (part != 0) sum = sums[p];
                    for (int s = 0; s < P::simd; s++) {
#pragma HLS UNROLL
                        const typename P::rhs_beat others = words[s][group * P::parts + part];
                        sum += take<typename P::lhs>(ones, s) * take<typename P::rhs>(others, p);
                    }
                    sums[p] = sum;
                    put<P::out_bits>(beat, p, ap_uint<P::out_bits>(sum));
                }
                if (part == P::parts - 1) out.write(beat);
            }
        }
    }
}

// One pair of matrices; `simd` divides `depth`, `pe` divides `columns`, and every sum fits `out_bits`.
template <class P>
void mat_mul(
    hls::stream<typename P::lhs_beat> &lhs, hls::stream<typename P::rhs_beat> &rhs,
    hls::stream<typename P::out_beat> &out
) {
#pragma HLS DATAFLOW
    typename P::rhs_beat words[P::simd][P::words];
#pragma HLS ARRAY_PARTITION variable=words complete dim=1
    collect_matrix<P>(rhs, words);
    multiply_rows<P>(lhs, words, out);
}

}  // namespace brainsmith

#endif
