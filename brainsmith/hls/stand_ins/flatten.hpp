// Lanes of a beat: an array as one word, and a word as lanes. The first lane lies in the lowest bits.
#ifndef BRAINSMITH_FLATTEN_HPP
#define BRAINSMITH_FLATTEN_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ap_int.h"

namespace brainsmith {

// How a lane's type becomes bits, and bits that type.
template <typename T>
struct Lane {
    static constexpr int width = T::width;
    static ap_uint<width> bits(T const &value) {
        ap_uint<width> word;
        for (int at = 0; at < width; at++) word[at] = value[at];
        return word;
    }
    static T value(ap_uint<width> const &word) {
        T lane;
        for (int at = 0; at < width; at++) lane[at] = word[at];
        return lane;
    }
};

template <>
struct Lane<float> {
    static constexpr int width = 32;
    static ap_uint<32> bits(float value) {
        std::uint32_t word;
        std::memcpy(&word, &value, sizeof word);
        return ap_uint<32>(word);
    }
    static float value(ap_uint<32> const &word) {
        std::uint32_t const kept = word.to_uint();
        float lane;
        std::memcpy(&lane, &kept, sizeof lane);
        return lane;
    }
};

template <>
struct Lane<bool> {
    static constexpr int width = 1;
    static ap_uint<1> bits(bool value) { return ap_uint<1>(value); }
    static bool value(ap_uint<1> const &word) { return word != 0; }
};

}  // namespace brainsmith

template <typename T>
constexpr std::size_t width_v = brainsmith::Lane<T>::width;

template <typename T, std::size_t N>
ap_uint<N * brainsmith::Lane<T>::width> flatten(T const (&lanes)[N]) {
    constexpr int width = brainsmith::Lane<T>::width;
    ap_uint<N * width> word = 0;
    for (std::size_t at = 0; at < N; at++) {
        word((at + 1) * width - 1, at * width) = brainsmith::Lane<T>::bits(lanes[at]);
    }
    return word;
}

// `Slice<T>{}(word)(lane, 0)` is one lane of a word.
template <typename T>
struct Slice {
    template <int BITS>
    struct Word {
        ap_uint<BITS> word;
        T operator()(std::size_t lane, std::size_t) const {
            constexpr int width = brainsmith::Lane<T>::width;
            ap_uint<BITS> const moved = word >> (lane * width);
            return brainsmith::Lane<T>::value(ap_uint<width>(moved));
        }
    };
    template <int BITS>
    Word<BITS> operator()(ap_uint<BITS> const &word) const {
        return Word<BITS>{word};
    }
};

#endif
