// The functions of compiled ops, written so that g++ vectorises them: no branch, no call, no table.
//
// exp and log of float are those of the Cephes library (S. L. Moshier, expf.c, logf.c): argument reduction, then a
// minimax polynomial; tanh is a rational function fitted to it in [-9, 9] (relative error 2e-8); log1p corrects log(1 + x) by what
// the sum lost (W. Kahan); erf is the polynomial of brainsmith/autodiff/special.py. What has no vector form here is the
// C library's.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace brainsmith {

#ifdef __FMA__
static inline float muladd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
static inline float muladd(float a, float b, float c) { return a * b + c; }
#endif

// A bound as the compiler may not see it: with its value it makes branches of comparisons, and of the branches masks, where
// one instruction gives the greater of two numbers.
template <class T> static inline T opaque(T bound) {
#if defined(__x86_64__)
    if constexpr (std::is_floating_point_v<T>) asm("" : "+x"(bound));
#elif defined(__aarch64__)
    if constexpr (std::is_floating_point_v<T>) asm("" : "+w"(bound));
#endif
    return bound;
}

// The greater and the lesser of a value and a bound that is a number: NaN stays NaN.
template <class T> static inline T at_least(T x, T bound) { return bound > x ? bound : x; }
template <class T> static inline T at_most(T x, T bound) { return bound < x ? bound : x; }
template <class T> static inline T within(T x, T low, T high) { return at_most<T>(at_least<T>(x, low), high); }

static inline int32_t bits_of(float x) { return __builtin_bit_cast(int32_t, x); }
static inline float float_of(int32_t bits) { return __builtin_bit_cast(float, bits); }

// (exp(r) - 1 - r) / (r * r) for |r| <= log(2) / 2.
static inline float exp_tail(float r) {
    float p = 1.9875691500e-4f;
    p = muladd(p, r, 1.3981999507e-3f);
    p = muladd(p, r, 8.3334519073e-3f);
    p = muladd(p, r, 4.1665795894e-2f);
    p = muladd(p, r, 1.6666665459e-1f);
    return muladd(p, r, 5.0000001201e-1f);
}

// The greatest float of which the last place counts 1: what is added to it is rounded to an integer.
static const float ROUNDER = 12582912.0f;

// value * 2^n in two factors, so that subnormal and infinite results come about by rounding.
static inline float scale(float value, int32_t n) {
    const int32_t half = n >> 1;
    return value * float_of((half + 127) << 23) * float_of((n - half + 127) << 23);
}

static const float EXP_LEAST = opaque(-104.0f), EXP_MOST = opaque(89.0f);
static const float EXP2_LEAST = opaque(-151.0f), EXP2_MOST = opaque(129.0f);

template <class T> static inline T exp(T x) { return std::exp(x); }
template <> inline float exp(float x) {
    x = within(x, EXP_LEAST, EXP_MOST);
    const float shifted = muladd(x, 1.44269504088896341f, ROUNDER);
    const float n = shifted - ROUNDER;
    float r = muladd(n, -0.693359375f, x);
    r = muladd(n, 2.12194440e-4f, r);
    return scale(muladd(exp_tail(r), r * r, r) + 1.0f, bits_of(shifted) - bits_of(ROUNDER));
}

template <class T> static inline T exp2(T x) { return std::exp2(x); }
template <> inline float exp2(float x) {
    x = within(x, EXP2_LEAST, EXP2_MOST);
    const float shifted = x + ROUNDER;
    const float r = (x - (shifted - ROUNDER)) * 0.693147180559945309f;
    return scale(muladd(exp_tail(r), r * r, r) + 1.0f, bits_of(shifted) - bits_of(ROUNDER));
}

template <class T> static inline T expm1(T x) { return std::expm1(x); }
template <> inline float expm1(float x) {
    const float near = muladd(exp_tail(x), x * x, x);
    const float found = std::fabs(x) < 0.3465f ? near : exp<float>(x) - 1.0f;
    return std::copysign(found, x);
}

template <class T> static inline T log(T x) { return std::log(x); }
template <> inline float log(float x) {
    const bool small = x < 1.17549435e-38f;
    const int32_t bits = bits_of(small ? x * 8388608.0f : x);
    // The mantissa in [sqrt(1/2), sqrt(2)), and the exponent that goes with it.
    const int32_t offset = bits - 0x3f3504f3;
    const float e = (float)((offset >> 23) - (small ? 23 : 0));
    const float m = float_of((offset & 0x007fffff) + 0x3f3504f3) - 1.0f;
    const float z = m * m;
    float p = 7.0376836292e-2f;
    p = muladd(p, m, -1.1514610310e-1f);
    p = muladd(p, m, 1.1676998740e-1f);
    p = muladd(p, m, -1.2420140846e-1f);
    p = muladd(p, m, 1.4249322787e-1f);
    p = muladd(p, m, -1.6668057665e-1f);
    p = muladd(p, m, 2.0000714765e-1f);
    p = muladd(p, m, -2.4999993993e-1f);
    p = muladd(p, m, 3.3333331174e-1f);
    p = p * m * z;
    p = muladd(e, -2.12194440e-4f, p);
    p = muladd(z, -0.5f, p);
    float found = muladd(e, 0.693359375f, m + p);
    found = x == 0.0f ? -std::numeric_limits<float>::infinity() : found;
    found = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : found;
    return x < std::numeric_limits<float>::infinity() ? found : x;
}

template <class T> static inline T log1p(T x) { return std::log1p(x); }
template <> inline float log1p(float x) {
    const float sum = 1.0f + x;
    const float lost = (x - (sum - 1.0f)) / sum;
    const bool exact = !(sum > 0.0f) | !(sum < std::numeric_limits<float>::infinity());
    const float found = log<float>(sum) + (exact ? 0.0f : lost);
    return std::fabs(x) < 1.0e-8f ? x : found;
}

// The fraction rises above 1 by 30 units in the last place up to x = 10, so that bounded to 1 it is 1 from there on.
static const float TANH_REACH_SQUARED = opaque(100.0f), TANH_MOST = opaque(1.0f);
template <class T> static inline T tanh(T x) { return std::tanh(x); }
// x * p(x^2) / q(x^2) with p(0) = q(0) = 1, so that the least numbers stay as they are. Rounding leads beyond 1 from 7 on.
template <> inline float tanh(float x) {
    const float z = at_most(x * x, TANH_REACH_SQUARED);
    float p = 1.341979861e-08f;
    p = muladd(p, z, 2.066122215e-05f);
    p = muladd(p, z, 3.498993581e-03f);
    p = muladd(p, z, 1.338398308e-01f);
    p = muladd(p, z, 1.0f);
    float q = 7.804708275e-07f;
    q = muladd(q, z, 3.291034373e-04f);
    q = muladd(q, z, 2.589020133e-02f);
    q = muladd(q, z, 4.671730995e-01f);
    q = muladd(q, z, 1.0f);
    return within(x * p / q, -TANH_MOST, TANH_MOST);
}

static inline double erf_polynomial(double x) {
    static constexpr double C[] = {ERF_COEFFICIENTS};
    constexpr int N = sizeof(C) / sizeof(C[0]);
    static_assert(N % 2 == 1, "even and odd powers end in one way each");
    const double t = x * x * 0.125 - 1.0, square = t * t;
    double even = C[N - 1], odd = C[N - 2];
    #pragma GCC unroll 32
    for (int at = N - 3; at >= 0; at -= 2) {
        even = even * square + C[at];
        if (at > 0) odd = odd * square + C[at - 1];
    }
    return (even + odd * t) * x;
}
static const double ERF_LEAST = opaque(-ERF_REACH), ERF_MOST = opaque(ERF_REACH);
template <class T> static inline T erf(T x) { return std::erf(x); }
template <> inline float erf(float x) {
    return (float)erf_polynomial(within<double>(x, ERF_LEAST, ERF_MOST));
}

#define BRAINSMITH_LIBRARY(name, form) \
    template <class T> static inline T name(T x) { return std::form(x); }
BRAINSMITH_LIBRARY(sqrt, sqrt)
BRAINSMITH_LIBRARY(log2, log2)
BRAINSMITH_LIBRARY(log10, log10)
BRAINSMITH_LIBRARY(sin, sin)
BRAINSMITH_LIBRARY(cos, cos)
BRAINSMITH_LIBRARY(sinh, sinh)
BRAINSMITH_LIBRARY(cosh, cosh)
BRAINSMITH_LIBRARY(arctan, atan)
BRAINSMITH_LIBRARY(fabs, fabs)

// log2 of a positive number, for |log2(x)| < 1000 within 1e-12 of it: 2 * atanh((m - 1) / (m + 1)) as a series.
static inline double log2_of(double x) {
    constexpr int64_t LEAST = 0x3fe6a09e667f3bcd, MANTISSA = 0x000fffffffffffff;  // sqrt(1/2)
    const int64_t offset = __builtin_bit_cast(int64_t, x) - LEAST;
    const double m = __builtin_bit_cast(double, (offset & MANTISSA) + LEAST);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    return (double)(offset >> 52) + (p * z * s + s) * 2.885390081777926815;
}

// 2^x, rounded to float once; infinite above 128, and subnormal numbers are right.
static inline float exp2_of(double x) {
    constexpr double WIDE_ROUNDER = 6755399441055744.0;
    x = x < -151.0 ? -151.0 : x;
    x = x > 129.0 ? 129.0 : x;
    const double shifted = x + WIDE_ROUNDER;
    const double r = (x - (shifted - WIDE_ROUNDER)) * 0.693147180559945309417;
    double p = 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const int64_t n = __builtin_bit_cast(int64_t, shifted) - __builtin_bit_cast(int64_t, WIDE_ROUNDER);
    return (float)(p * __builtin_bit_cast(double, (n + 1023) << 52));
}

template <class T> static inline T power(T x, T y) { return std::pow(x, y); }
// Special values as in C (Annex F); of float, exp2(y * log2(|x|)) in double has the right bits to spare.
template <> inline float power(float x, float y) {
    constexpr float INFINITE = std::numeric_limits<float>::infinity();
    const float size = std::fabs(x), half = 0.5f * y;
    const bool whole = std::rint(y) == y, odd = whole & (std::rint(half) != half);
    double log = log2_of(size);
    log = size == 0.0f ? -(double)INFINITE : log;
    log = size < INFINITE ? log : (double)size;
    float found = exp2_of((double)y * log);
    found = odd ? std::copysign(found, x) : found;
    found = (x < 0.0f) & (size < INFINITE) & !whole ? std::numeric_limits<float>::quiet_NaN() : found;
    found = (y != y) ? y : found;
    const bool one = (y == 0.0f) | (x == 1.0f) | ((x == -1.0f) & (std::fabs(y) == INFINITE));
    return one ? 1.0f : found;
}
template <int N> static inline float power_of(float x) {
    double total = 1.0;
    for (int at = 0; at < (N < 0 ? -N : N); ++at) total *= (double)x;
    return (float)(N < 0 ? 1.0 / total : total);
}
template <class T> static inline T logaddexp(T x, T y) {
    const T gap = x - y;
    const T found = (x > y ? x : y) + log1p<T>(exp<T>(-std::fabs(gap)));
    return x == y ? x + (T)0.693147180559945309417 : gap != gap ? gap : found;
}

template <class T> static inline T floor(T x) { return std::is_floating_point_v<T> ? (T)std::floor(x) : x; }
template <class T> static inline T ceil(T x) { return std::is_floating_point_v<T> ? (T)std::ceil(x) : x; }
template <class T> static inline T trunc(T x) { return std::is_floating_point_v<T> ? (T)std::trunc(x) : x; }
template <class T> static inline T rint(T x) { return std::is_floating_point_v<T> ? (T)std::rint(x) : x; }
template <class T> static inline T round(T x) { return rint<T>(x); }

template <class T> static inline T add(T a, T b) { return (T)(a + b); }
template <class T> static inline T subtract(T a, T b) { return (T)(a - b); }
template <class T> static inline T multiply(T a, T b) { return (T)(a * b); }
template <class T> static inline T divide(T a, T b) { return a / b; }
template <class T> static inline T negative(T a) { return (T)-a; }
template <class T> static inline T positive(T a) { return a; }
template <class T> static inline T square(T a) { return (T)(a * a); }
template <class T> static inline T reciprocal(T a) { return (T)1 / a; }
template <class T> static inline T absolute(T a) {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
    else return a < (T)0 ? (T)-a : a;
}
template <class T> static inline T sign(T a) {
    return a > (T)0 ? (T)1 : a < (T)0 ? (T)-1 : a == (T)0 ? (T)0 : a;
}
template <class T> static inline bool is_nan(T a) { return a != a; }
template <class T> static inline bool isnan(T a) { return a != a; }
template <class T> static inline bool isfinite(T a) { return a - a == (T)0; }
template <class T> static inline bool isinf(T a) { return a == a && !isfinite<T>(a); }
template <class T> static inline bool signbit(T a) {
    if constexpr (std::is_floating_point_v<T>) return std::copysign((T)1, a) < (T)0;
    else return a < (T)0;
}
template <class T> static inline T copysign(T a, T b) { return std::copysign(a, b); }

template <class T> static inline T maximum(T a, T b) { return is_nan(b) ? b : at_least<T>(a, b); }
template <class T> static inline T minimum(T a, T b) { return is_nan(b) ? b : at_most<T>(a, b); }
template <class T> static inline T fmax(T a, T b) { return (a >= b) | is_nan(b) ? a : b; }
template <class T> static inline T fmin(T a, T b) { return (a <= b) | is_nan(b) ? a : b; }
template <class T> static inline T clip(T x, T low, T high) { return minimum<T>(maximum<T>(x, low), high); }
template <class T> static inline T full_like(T, T value) { return value; }
template <class T> static inline T where(bool condition, T a, T b) { return condition ? a : b; }

// As numpy (npy_math, npy_divmod): the quotient is rounded down, the remainder has the divisor's sign.
template <class T> static inline T remainder(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        const T rest = std::fmod(a, b);
        if (b == (T)0) return rest;
        if (rest == (T)0) return std::copysign((T)0, b);
        return (b < (T)0) != (rest < (T)0) ? rest + b : rest;
    } else {
        if (b == (T)0 || (std::is_signed_v<T> && b == (T)-1)) return 0;
        const T rest = (T)(a % b);
        return rest != (T)0 && ((rest < (T)0) != (b < (T)0)) ? (T)(rest + b) : rest;
    }
}
template <class T> static inline T floor_divide(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (b == (T)0) return a / b;
        const T rest = std::fmod(a, b);
        T quotient = (a - rest) / b;
        if (rest != (T)0 && (b < (T)0) != (rest < (T)0)) quotient -= (T)1;
        if (quotient == (T)0) return std::copysign((T)0, a / b);
        const T down = std::floor(quotient);
        return quotient - down > (T)0.5 ? down + (T)1 : down;
    } else {
        if (b == (T)0) return 0;
        if (std::is_signed_v<T> && b == (T)-1) return (T)-a;
        const T quotient = (T)(a / b);
        return (a % b != (T)0) && ((a < (T)0) != (b < (T)0)) ? (T)(quotient - 1) : quotient;
    }
}

#define BRAINSMITH_BINARY(name, result, form) \
    template <class T> static inline result name(T a, T b) { return form; }
BRAINSMITH_BINARY(equal, bool, a == b)
BRAINSMITH_BINARY(not_equal, bool, a != b)
BRAINSMITH_BINARY(less, bool, a < b)
BRAINSMITH_BINARY(less_equal, bool, a <= b)
BRAINSMITH_BINARY(greater, bool, a > b)
BRAINSMITH_BINARY(greater_equal, bool, a >= b)
BRAINSMITH_BINARY(logical_and, bool, (bool)a & (bool)b)
BRAINSMITH_BINARY(logical_or, bool, (bool)a | (bool)b)
BRAINSMITH_BINARY(logical_xor, bool, (bool)a ^ (bool)b)
BRAINSMITH_BINARY(bitwise_and, T, (T)(a & b))
BRAINSMITH_BINARY(bitwise_or, T, (T)(a | b))
BRAINSMITH_BINARY(bitwise_xor, T, (T)(a ^ b))
template <class T> static inline bool logical_not(T a) { return !a; }
template <class T> static inline T invert(T a) {
    if constexpr (std::is_same_v<T, bool>) return !a;
    else return (T)~a;
}

}  // namespace brainsmith
