// What FINN's generated HLS includes first, where FINN's HLS library is not installed: types only, no layer's function.
#ifndef BRAINSMITH_BNN_LIBRARY_H
#define BRAINSMITH_BNN_LIBRARY_H

#include <cstddef>
#include <cstdint>

#include "ap_int.h"
#include "hls_stream.h"

#endif
