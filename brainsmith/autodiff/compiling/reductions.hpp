// Reductions: LANES partial results that the compiler keeps in vectors, folded into one after every BLOCK columns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace brainsmith {

constexpr int LANES = 16;
constexpr int64_t BLOCK = 1024;

// Sums of floating point are those of double; the sums of blocks are added with the error of each addition kept
// (A. Neumaier, 1974), so that the error does not grow with their number.
template <class T> struct Sum {
    T total = 0, lost = 0;
    static constexpr T neutral = 0;
    static T combine(T a, T b) { return (T)(a + b); }
    void fold(T value) {
        if constexpr (std::is_floating_point_v<T>) {
            const T sum = total + value;
            lost += std::fabs(total) >= std::fabs(value) ? (total - sum) + value : (value - sum) + total;
            total = sum;
        } else total = (T)(total + value);
    }
    T value() const {
        if constexpr (std::is_floating_point_v<T>) return lost - lost == (T)0 ? total + lost : total;
        else return total;
    }
};
template <class T> struct Product {
    T total = 1;
    static constexpr T neutral = 1;
    static T combine(T a, T b) { return (T)(a * b); }
    void fold(T value) { total = (T)(total * value); }
    T value() const { return total; }
};
template <class T> struct Greatest {
    static constexpr T neutral =
        std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    T total = neutral;
    static T combine(T a, T b) { return maximum<T>(a, b); }
    void fold(T value) { total = maximum<T>(total, value); }
    T value() const { return total; }
};
template <class T> struct Least {
    static constexpr T neutral =
        std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    T total = neutral;
    static T combine(T a, T b) { return minimum<T>(a, b); }
    void fold(T value) { total = minimum<T>(total, value); }
    T value() const { return total; }
};

}  // namespace brainsmith
