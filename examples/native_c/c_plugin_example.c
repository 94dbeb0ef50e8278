/* A native plugin in C: leaky_relu and softplus, for float32 and float64, with their gradients.
 *
 *     cc -O3 -shared -fPIC -I"$(python -c 'import brainsmith.native as n; print(n.include_folder())')" \
 *        c_plugin_example.c -o libc_plugin_example.so -lm
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "brainsmith_plugin.h"

/* Each loop is written once, for both types. */
#define FOR_BOTH_TYPES(X) X(float, f32, fabsf) X(double, f64, fabs)

/* gcc makes vectors of selections where nobody asks which comparison met a NaN. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

/* Compiled for AVX-512, for AVX2 and for any CPU; the loader chooses. Elsewhere one form serves all CPUs. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_THIS_CPU __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define FOR_THIS_CPU
#endif

static bs_status refuse(const bs_call *call, const char *why) {
    snprintf(call->error, call->error_size, "%s", why);
    return BS_INVALID_INPUT;
}

static bs_status takes_floats(const bs_call *call) {
    bs_dtype dtype = call->inputs[0].dtype;
    return dtype == BS_FLOAT32 || dtype == BS_FLOAT64 ? BS_OK : refuse(call, "it takes float32 or float64");
}

/* leaky_relu(x) is x where x > 0, and `slope` * x elsewhere; the slope is the operation's user data. */
static double slope = 0.01;

#define LEAKY_RELU(T, NAME, ABS)                                                                        \
    static void leaky_relu_##NAME(const T *x, T *y, int64_t size, T low) {                              \
        for (int64_t i = 0; i < size; i++) y[i] = x[i] > 0 ? x[i] : low * x[i];                         \
    }                                                                                                   \
    static void leaky_relu_gradient_##NAME(const T *x, const T *up, T *down, int64_t size, T low) {     \
        for (int64_t i = 0; i < size; i++) down[i] = x[i] > 0 ? up[i] : low * up[i];                    \
    }
FOR_BOTH_TYPES(LEAKY_RELU)

static bs_status leaky_relu(const bs_call *call) {
    const bs_tensor *x = call->inputs, *y = call->outputs;
    double low = *(const double *)call->user_data;
    if (x->dtype == BS_FLOAT32) leaky_relu_f32(x->data, y->data, x->size, (float)low);
    else leaky_relu_f64(x->data, y->data, x->size, low);
    return BS_OK;
}

static bs_status leaky_relu_gradient(const bs_call *call) {
    const bs_tensor *x = call->inputs, *up = call->grad_outputs, *down = call->grad_inputs;
    double low = *(const double *)call->user_data;
    if (x->dtype == BS_FLOAT32) leaky_relu_gradient_f32(x->data, up->data, down->data, x->size, (float)low);
    else leaky_relu_gradient_f64(x->data, up->data, down->data, x->size, low);
    return BS_OK;
}

/* exp of a number that is not above 0, and log1p of one from 0 to 1, without a branch or a call, so that compilers
 * make vectors of their loops.
 *
 * With n the nearest whole number to x / ln 2 and r = x - n ln 2 it is 2^n e^r. Adding 1.5 * 2^(bits of the
 * mantissa) leaves n in the lowest bits, from where a shift makes 2^n; e^r is Taylor's series. Below LEAST it is
 * what it is there. log1p(t) is 2 artanh(s) = 2 (s + s^3 / 3 + ...) with s = t / (2 + t), which is 1 / 3 at most. */
#define EXP_AND_LOG1P(T, NAME, BITS, MANTISSA, BIAS, LEAST, HIGH, LOW, POWERS, TERMS)                   \
    static inline __attribute__((always_inline)) T exp_##NAME(T x) {                                    \
        const T rounder = (T)1.5 * ((BITS)1 << MANTISSA);                                               \
        x = x < (T)LEAST ? (T)LEAST : x;                                                                \
        T shifted = x * (T)1.4426950408889634 + rounder, n = shifted - rounder;                         \
        T r = x - n * (T)HIGH - n * (T)LOW, sum = 1;                                                    \
        for (int k = POWERS; k > 0; k--) sum = sum * (r * ((T)1 / k)) + 1;                              \
        BITS bits;                                                                                      \
        memcpy(&bits, &shifted, sizeof bits);                                                           \
        bits = (bits << MANTISSA) + ((BITS)BIAS << MANTISSA);                                           \
        T power;                                                                                        \
        memcpy(&power, &bits, sizeof power);                                                            \
        return sum * power;                                                                             \
    }                                                                                                   \
    static inline __attribute__((always_inline)) T log1p_##NAME(T t) {                                  \
        T s = t / (2 + t), z = s * s, sum = (T)1 / (2 * TERMS + 1);                                     \
        for (int k = TERMS - 1; k >= 0; k--) sum = sum * z + (T)1 / (2 * k + 1);                        \
        return 2 * s * sum;                                                                             \
    }
EXP_AND_LOG1P(float, f32, uint32_t, 23, 127, -87, 0.693359375, -2.12194440e-4, 7, 8)
EXP_AND_LOG1P(double, f64, uint64_t, 52, 1023, -708, 6.93147180369123816e-1, 1.90821492927058770e-10, 13, 16)

/* softplus(x) = log(1 + exp(x)), as max(x, 0) + log1p(exp(-|x|)), which does not overflow. Its derivative is
 * 1 / (1 + exp(-x)). Softplus is within 4 units in the last place down to LEAST; to the left of -FAR both are 0. */
#define FAR_f32 104
#define FAR_f64 746
#define SOFTPLUS(T, NAME, ABS)                                                                          \
    FOR_THIS_CPU static void softplus_##NAME(const T *x, T *y, int64_t size) {                          \
        for (int64_t i = 0; i < size; i++) {                                                            \
            T rest = log1p_##NAME(exp_##NAME(-ABS(x[i])));                                              \
            y[i] = x[i] < -(T)FAR_##NAME ? 0 : (x[i] > 0 ? x[i] : 0) + rest;                            \
        }                                                                                               \
    }                                                                                                   \
    FOR_THIS_CPU static void softplus_gradient_##NAME(const T *x, const T *up, T *down, int64_t size) { \
        for (int64_t i = 0; i < size; i++) {                                                            \
            T t = exp_##NAME(-ABS(x[i]));                                                               \
            T left = x[i] < -(T)FAR_##NAME ? 0 : t;                                                     \
            down[i] = up[i] * (x[i] < 0 ? left : 1) / (1 + t);                                          \
        }                                                                                               \
    }
FOR_BOTH_TYPES(SOFTPLUS)

static bs_status softplus(const bs_call *call) {
    const bs_tensor *x = call->inputs, *y = call->outputs;
    if (x->dtype == BS_FLOAT32) softplus_f32(x->data, y->data, x->size);
    else softplus_f64(x->data, y->data, x->size);
    return BS_OK;
}

static bs_status softplus_gradient(const bs_call *call) {
    const bs_tensor *x = call->inputs, *up = call->grad_outputs, *down = call->grad_inputs;
    if (x->dtype == BS_FLOAT32) softplus_gradient_f32(x->data, up->data, down->data, x->size);
    else softplus_gradient_f64(x->data, up->data, down->data, x->size);
    return BS_OK;
}

/* NULL rules: shape, dtype and device of the output are the input's. */
static const bs_op leaky_relu_op = {
    .struct_size = sizeof(bs_op),
    .flags = BS_VALIDATE_BY_SHAPE,
    .name = "c_leaky_relu",
    .description = "x where x > 0, 0.01 x elsewhere",
    .num_inputs = 1,
    .num_outputs = 1,
    .user_data = &slope,
    .validate = takes_floats,
    .forward = leaky_relu,
    .backward = leaky_relu_gradient,
};

static const bs_op softplus_op = {
    .struct_size = sizeof(bs_op),
    .flags = BS_VALIDATE_BY_SHAPE,
    .name = "c_softplus",
    .description = "log(1 + exp(x))",
    .num_inputs = 1,
    .num_outputs = 1,
    .validate = takes_floats,
    .forward = softplus,
    .backward = softplus_gradient,
};

static const bs_op *const ops[] = {&leaky_relu_op, &softplus_op};

static const bs_plugin_table table = {
    .abi_version = BS_ABI_VERSION,
    .struct_size = sizeof(bs_plugin_table),
    .name = "c_example_plugin",
    .version = "1.0.0",
    .description = "Activations in C",
    .author = "BrainSmith",
    .min_brainsmith = "0.1.0",
    .num_ops = sizeof(ops) / sizeof(*ops),
    .ops = ops,
};

BS_EXPORT const bs_plugin_table *create_plugin(const bs_host *host) {
    (void)host;
    return &table;
}
