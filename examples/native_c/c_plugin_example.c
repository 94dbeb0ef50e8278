/* A native plugin in C: leaky_relu and softplus, for float32 and float64, with their gradients.
 *
 *     cc -O3 -shared -fPIC -I"$(python -c 'import brainsmith.native as n; print(n.include_folder())')" \
 *        c_plugin_example.c -o libc_plugin_example.so -lm
 */
#include <math.h>
#include <stdio.h>

#include "brainsmith_plugin.h"

/* Each loop is written once, for both types. */
#define FOR_BOTH_TYPES(X) X(float, f32, expf, log1pf) X(double, f64, exp, log1p)

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

#define LEAKY_RELU(T, NAME, EXP, LOG1P)                                                                  \
    static void leaky_relu_##NAME(const T *x, T *y, int64_t size, T low) {                               \
        for (int64_t i = 0; i < size; i++) y[i] = x[i] > 0 ? x[i] : low * x[i];                          \
    }                                                                                                    \
    static void leaky_relu_gradient_##NAME(const T *x, const T *up, T *down, int64_t size, T low) {      \
        for (int64_t i = 0; i < size; i++) down[i] = x[i] > 0 ? up[i] : low * up[i];                     \
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

/* softplus(x) = log(1 + exp(x)), as max(x, 0) + log1p(exp(-|x|)), which does not overflow. Its derivative is
 * 1 / (1 + exp(-x)). */
#define SOFTPLUS(T, NAME, EXP, LOG1P)                                                                    \
    static void softplus_##NAME(const T *x, T *y, int64_t size) {                                        \
        for (int64_t i = 0; i < size; i++) y[i] = (x[i] < 0 ? 0 : x[i]) + LOG1P(EXP(x[i] < 0 ? x[i] : -x[i])); \
    }                                                                                                    \
    static void softplus_gradient_##NAME(const T *x, const T *up, T *down, int64_t size) {               \
        for (int64_t i = 0; i < size; i++) down[i] = up[i] / (1 + EXP(-x[i]));                           \
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
