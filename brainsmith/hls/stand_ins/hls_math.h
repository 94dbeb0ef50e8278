// The one function of Vitis' hls_math.h that FINN's generated code calls and that the open headers lack.
#ifndef BRAINSMITH_HLS_MATH_H
#define BRAINSMITH_HLS_MATH_H

#include <cmath>

namespace hls {
inline long lrint(float value) { return std::lrint(value); }
}  // namespace hls

#endif
