// Constants that FINN's lookup.hpp computes its widths with.
#ifndef BRAINSMITH_UTILS_HPP
#define BRAINSMITH_UTILS_HPP

// Return the least number of bits that number so many things.
constexpr unsigned clog2(unsigned long long things) {
    return things <= 1 ? 0 : 1 + clog2((things + 1) / 2);
}

#endif
