/* A plugin for tests: operations that work, fail, crash and hang, each in its own way. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "brainsmith_plugin.h"

static bs_status twice(const bs_call *call) {
    const float *x = call->inputs[0].data;
    float *y = call->outputs[0].data;
    for (int64_t i = 0; i < call->inputs[0].size; i++) y[i] = 2 * x[i];
    return BS_OK;
}

static bs_status twice_gradient(const bs_call *call) {
    const float *up = call->grad_outputs[0].data;
    float *down = call->grad_inputs[0].data;
    for (int64_t i = 0; i < call->inputs[0].size; i++) down[i] = 2 * up[i];
    return BS_OK;
}

static bs_status say(const bs_call *call, bs_status status, const char *why) {
    snprintf(call->error, call->error_size, "%s", why);
    return status;
}

/* a (n x k) @ b (k x m), with rules of its own; b has no gradient. */
static bs_status product_validate(const bs_call *call) {
    const bs_tensor *a = call->inputs, *b = call->inputs + 1;
    if (a->dtype != BS_FLOAT32 || b->dtype != BS_FLOAT32) return say(call, BS_INVALID_INPUT, "it takes float32");
    if (a->ndim != 2 || b->ndim != 2) return say(call, BS_INVALID_INPUT, "it takes two matrices");
    return a->shape[1] == b->shape[0] ? BS_OK : say(call, BS_INVALID_INPUT, "the inner extents differ");
}

static bs_status product_shape(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)output;
    if (call->inputs[0].ndim != 2 || call->inputs[1].ndim != 2)
        return say(call, BS_INVALID_INPUT, "it takes two matrices");
    shape[0] = call->inputs[0].shape[0], shape[1] = call->inputs[1].shape[1], *ndim = 2;
    return BS_OK;
}

static bs_status product_dtype(const bs_call *call, uint32_t output, bs_dtype *dtype) {
    (void)call, (void)output;
    *dtype = BS_FLOAT64;
    return BS_OK;
}

static bs_status product_device(const bs_call *call, uint32_t output, const char **device) {
    (void)output;
    *device = call->inputs[0].device;
    return BS_OK;
}

static bs_status product(const bs_call *call) {
    const bs_tensor *a = call->inputs, *b = call->inputs + 1;
    const float *p = a->data, *q = b->data;
    double *y = call->outputs[0].data;
    int64_t n = a->shape[0], k = a->shape[1], m = b->shape[1];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            y[i * m + j] = 0;
            for (int64_t l = 0; l < k; l++) y[i * m + j] += (double)p[i * k + l] * q[l * m + j];
        }
    return BS_OK;
}

static bs_status product_gradient(const bs_call *call) {
    const bs_tensor *a = call->inputs, *b = call->inputs + 1;
    const float *q = b->data;
    const double *up = call->grad_outputs[0].data;
    float *down = call->grad_inputs[0].data;
    int64_t n = a->shape[0], k = a->shape[1], m = b->shape[1];
    if (call->grad_inputs[1].data) return say(call, BS_ERROR, "a gradient that nobody wants has memory");
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < k; l++) {
            double sum = 0;
            for (int64_t j = 0; j < m; j++) sum += up[i * m + j] * q[l * m + j];
            down[i * k + l] = (float)sum;
        }
    return BS_OK;
}

/* The smallest and the largest element, as two outputs without dimensions. */
static bs_status extremes_shape(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output, (void)shape;
    *ndim = 0;
    return BS_OK;
}

static bs_status extremes(const bs_call *call) {
    const float *x = call->inputs[0].data;
    float *low = call->outputs[0].data, *high = call->outputs[1].data;
    *low = *high = x[0];
    for (int64_t i = 1; i < call->inputs[0].size; i++) {
        if (x[i] < *low) *low = x[i];
        if (x[i] > *high) *high = x[i];
    }
    return BS_OK;
}

/* The sign of an input decides: validation looks at values. */
static bs_status positive(const bs_call *call) {
    const float *x = call->inputs[0].data;
    return x[0] > 0 ? BS_OK : say(call, BS_INVALID_INPUT, "its first element must be more than 0");
}

static bs_status fails(const bs_call *call) { return say(call, BS_ERROR, "there is no such number"); }
static bs_status panics(const bs_call *call) { return say(call, BS_PANIC, "index out of bounds"); }
static bs_status silent(const bs_call *call) { (void)call; return BS_ERROR; }

static bs_status half(const bs_call *call) {
    memset(call->outputs[0].data, 7, (size_t)call->inputs[0].size * 2);
    abort();
}

static bs_status segv(const bs_call *call) { (void)call; raise(SIGSEGV); return BS_OK; }
static bs_status aborts(const bs_call *call) { (void)call; abort(); }
static bs_status exits(const bs_call *call) { (void)call; exit(3); }
static bs_status closes(const bs_call *call) { (void)call; for (int fd = 3; fd < 100; fd++) close(fd); sleep(60); return BS_OK; }
static bs_status writes_input(const bs_call *call) { *(float *)call->inputs[0].data = 99; return BS_OK; }

static bs_status loops(const bs_call *call) {
    for (volatile int on = 1; on;) {}
    return twice(call);
}

/* Loops if the first element is negative, else it is `twice`, after as many milliseconds as the element says. */
static bs_status sleeps(const bs_call *call) {
    float first = *(const float *)call->inputs[0].data;
    if (first < 0) return loops(call);
    usleep((useconds_t)(first * 1000));
    return twice(call);
}

static bs_status prints(const bs_call *call) {
    puts("on standard output");
    fflush(stdout);
    fputs("on standard error\n", stderr);
    return twice(call);
}

static bs_status process(const bs_call *call) {
    *(int64_t *)call->outputs[0].data = getpid();
    return BS_OK;
}

static bs_status forks(const bs_call *call) {
    if (!fork()) for (;;) sleep(60);
    *(int64_t *)call->outputs[0].data = getpid();
    return BS_OK;
}

static bs_status crashing_gradient(const bs_call *call) { (void)call; abort(); }
static bs_status crashing_shape(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output, (void)shape, (void)ndim;
    abort();
}
static bs_status wrong_shape(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output;
    shape[0] = -4, *ndim = 1;
    return BS_OK;
}
static bs_status vast_shape(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output;
    shape[0] = INT64_C(1) << 40, shape[1] = 1 << 20, *ndim = 2;
    return BS_OK;
}
static bs_status wrong_dtype(const bs_call *call, uint32_t output, bs_dtype *dtype) {
    (void)call, (void)output;
    *dtype = 77;
    return BS_OK;
}

#define OP(NAME, ...) {.struct_size = sizeof(bs_op), .name = #NAME, .num_inputs = 1, .num_outputs = 1, __VA_ARGS__}
static const bs_op all[] = {
    OP(twice, .forward = twice, .backward = twice_gradient),
    {.struct_size = sizeof(bs_op), .flags = BS_VALIDATE_BY_SHAPE, .name = "product", .description = "a @ b",
     .num_inputs = 2, .num_outputs = 1, .not_differentiable = 2, .validate = product_validate,
     .output_shape = product_shape, .output_dtype = product_dtype, .output_device = product_device,
     .forward = product, .backward = product_gradient},
    {.struct_size = sizeof(bs_op), .name = "extremes", .num_inputs = 1, .num_outputs = 2,
     .output_shape = extremes_shape, .forward = extremes},
    OP(positive, .validate = positive, .forward = twice),
    OP(fails, .forward = fails),
    OP(panics, .forward = panics),
    OP(silent, .forward = silent),
    OP(half, .forward = half),
    OP(segv, .forward = segv),
    OP(aborts, .forward = aborts),
    OP(exits, .forward = exits),
    OP(closes, .forward = closes),
    OP(writes_input, .forward = writes_input),
    OP(loops, .forward = loops),
    OP(sleeps, .forward = sleeps),
    OP(prints, .forward = prints),
    OP(process, .forward = process),
    OP(forks, .forward = forks),
    OP(crashing_gradient, .forward = twice, .backward = crashing_gradient),
    OP(crashing_shape, .forward = twice, .output_shape = crashing_shape),
    OP(wrong_shape, .forward = twice, .output_shape = wrong_shape),
    OP(vast, .forward = twice, .output_shape = vast_shape),
    OP(wrong_dtype, .forward = twice, .output_dtype = wrong_dtype),
};
#define COUNT (sizeof(all) / sizeof(*all))
static const bs_op *ops[COUNT];

static void destroy(const bs_plugin_table *table) {
    (void)table;
    puts("destroyed");
}

static bs_plugin_table table = {
    .abi_version = BS_ABI_VERSION,
    .struct_size = sizeof(bs_plugin_table),
    .name = "bad_plugin",
    .version = "1.2.3",
    .description = "Crashes on demand",
    .min_brainsmith = "0.1.0",
    .num_ops = COUNT,
    .ops = ops,
    .destroy = destroy,
};

BS_EXPORT const bs_plugin_table *create_plugin(const bs_host *host) {
    (void)host;
    for (size_t at = 0; at < COUNT; at++) ops[at] = &all[at];
    return &table;
}
