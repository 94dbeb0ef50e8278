/* A plugin whose every part a test can spoil: -DNAME=... on the compiler's command line. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "brainsmith_plugin.h"

#ifndef ABI
#define ABI BS_ABI_VERSION
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(bs_plugin_table)
#endif
#ifndef OP_SIZE
#define OP_SIZE sizeof(bs_op)
#endif
#ifndef NAME
#define NAME "spoilt"
#endif
#ifndef VERSION
#define VERSION "1.2.3"
#endif
#ifndef MIN
#define MIN NULL
#endif
#ifndef MAX
#define MAX NULL
#endif
#ifndef OP_NAME
#define OP_NAME "times"
#endif
#ifndef SECOND_NAME
#define SECOND_NAME "plus"
#endif
#ifndef NUM_OPS
#define NUM_OPS 2
#endif
#ifndef OPS
#define OPS ops
#endif
#ifndef FIRST
#define FIRST &first
#endif
#ifndef NUM_INPUTS
#define NUM_INPUTS 1
#endif
#ifndef NUM_OUTPUTS
#define NUM_OUTPUTS 1
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef SKIPPED
#define SKIPPED 0
#endif
#ifndef VALIDATE
#define VALIDATE NULL
#endif
#ifndef SHAPE
#define SHAPE NULL
#endif
#ifndef DTYPE
#define DTYPE NULL
#endif
#ifndef DEVICE
#define DEVICE NULL
#endif
#ifndef FORWARD
#define FORWARD times
#endif
#ifndef BACKWARD
#define BACKWARD times_gradient
#endif
#ifndef FACTOR
#define FACTOR 2
#endif
#ifndef TABLE
#define TABLE &table
#endif
#ifndef AT_LOAD
#define AT_LOAD
#endif
#ifndef AT_CREATE
#define AT_CREATE
#endif
#ifndef AT_DESTROY
#define AT_DESTROY
#endif

static bs_status say(const bs_call *call, bs_status status, const char *text) {
    snprintf(call->error, call->error_size, "%s", text);
    return status;
}

/* y = FACTOR x, for float32 and float64. */
static void multiply(const bs_tensor *x, const bs_tensor *y) {
    for (int64_t i = 0; i < x->size; i++) {
        if (x->dtype == BS_FLOAT64) ((double *)y->data)[i] = FACTOR * ((double *)x->data)[i];
        else ((float *)y->data)[i] = FACTOR * ((float *)x->data)[i];
    }
}

static bs_status times(const bs_call *call) {
    multiply(call->inputs, call->outputs);
    return BS_OK;
}

static bs_status times_gradient(const bs_call *call) {
    multiply(call->grad_outputs, call->grad_inputs);
    return BS_OK;
}

/* Others for FORWARD and BACKWARD. */
static bs_status wrong_gradient(const bs_call *call) {
    bs_tensor twice = call->grad_inputs[0];
    multiply(call->grad_outputs, &twice);
    multiply(&twice, call->grad_inputs);
    return BS_OK;
}
static bs_status no_gradient(const bs_call *call) { (void)call; return BS_OK; }
static bs_status half_a_gradient(const bs_call *call) {
    bs_tensor half = call->grad_outputs[0];
    half.size /= 2;
    multiply(&half, call->grad_inputs);
    return BS_OK;
}
static bs_status fails(const bs_call *call) { return say(call, BS_ERROR, "the moon is in the wrong place"); }
static bs_status refuses(const bs_call *call) { return say(call, BS_INVALID_INPUT, "it wants a Tuesday"); }
static bs_status panics(const bs_call *call) { return say(call, BS_PANIC, "index 7 of 3"); }
static bs_status is_silent(const bs_call *call) { (void)call; return BS_ERROR; }
static bs_status is_strange(const bs_call *call) { return say(call, 17, "what now"); }
static bs_status babbles(const bs_call *call) {
    memset(call->error, 'x', call->error_size);
    return BS_ERROR;
}
static bs_status warns_once(const bs_call *call) {
    static int calls = 0;
    return calls++ ? BS_ERROR : (say(call, BS_OK, "a warning"), times(call));
}
static bs_status sleeps(const bs_call *call) {
    usleep(400000);
    return times(call);
}

/* Writes what it was given: addresses, dtype, ndim and extents of the first input, all as float64. */
static bs_status tells(const bs_call *call) {
    double *y = call->outputs->data;
    const bs_tensor *x = call->inputs;
    memcpy(y, &x->data, sizeof(void *));
    memcpy(y + 1, &call->outputs->data, sizeof(void *));
    y[2] = x->dtype;
    y[3] = x->ndim;
    y[4] = (double)x->size;
    y[5] = x->strides == NULL && strcmp(x->device, "cpu") == 0;
    for (int32_t i = 0; i < x->ndim; i++) y[6 + i] = (double)x->shape[i];
    return BS_OK;
}

/* Sum and difference of two inputs: two outputs, with gradients. */
static bs_status sum_and_difference(const bs_call *call) {
    const float *a = call->inputs[0].data, *b = call->inputs[1].data;
    float *sum = call->outputs[0].data, *difference = call->outputs[1].data;
    for (int64_t i = 0; i < call->inputs->size; i++) {
        sum[i] = a[i] + b[i];
        difference[i] = a[i] - b[i];
    }
    return BS_OK;
}
static bs_status sum_and_difference_gradient(const bs_call *call) {
    const float *s = call->grad_outputs[0].data, *d = call->grad_outputs[1].data;
    float *a = call->grad_inputs[0].data, *b = call->grad_inputs[1].data;
    for (int64_t i = 0; i < call->inputs->size; i++) {
        a[i] = s[i] + d[i];
        if (b) b[i] = s[i] - d[i];
    }
    return BS_OK;
}

/* Others for the rules. */
static bs_status positive(const bs_call *call) {
    const float *x = call->inputs[0].data;
    for (int64_t i = 0; i < call->inputs[0].size; i++) if (x[i] < 0) return say(call, BS_INVALID_INPUT, "it is below 0");
    return BS_OK;
}
static int looks = 0;
static bs_status counts_looks(const bs_call *call) {
    return ++looks > 1 ? say(call, BS_INVALID_INPUT, "it was asked twice") : BS_OK;
}
static bs_status shape_of_16(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output;
    *ndim = 1, shape[0] = 16;
    return BS_OK;
}
static bs_status shape_below_0(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output;
    *ndim = 1, shape[0] = -3;
    return BS_OK;
}
static bs_status shape_too_long(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output, (void)shape;
    *ndim = 65;
    return BS_OK;
}
static bs_status shape_too_big(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output;
    *ndim = 2, shape[0] = shape[1] = (int64_t)1 << 40;
    return BS_OK;
}
static bs_status shape_empty_but_long(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)call, (void)output;
    *ndim = 3, shape[0] = 0, shape[1] = shape[2] = INT64_MAX;
    return BS_OK;
}
static bs_status shape_refused(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim) {
    (void)output, (void)shape, (void)ndim;
    return say(call, BS_INVALID_INPUT, "it is too flat");
}
static bs_status dtype_double(const bs_call *call, uint32_t output, bs_dtype *dtype) {
    (void)call, (void)output;
    *dtype = BS_FLOAT64;
    return BS_OK;
}
static bs_status dtype_99(const bs_call *call, uint32_t output, bs_dtype *dtype) {
    (void)call, (void)output;
    *dtype = 99;
    return BS_OK;
}
static bs_status device_elsewhere(const bs_call *call, uint32_t output, const char **device) {
    (void)call, (void)output;
    *device = "fpga:0";
    return BS_OK;
}
static bs_status device_null(const bs_call *call, uint32_t output, const char **device) {
    (void)call, (void)output;
    *device = NULL;
    return BS_OK;
}

static const bs_op first = {
    OP_SIZE, FLAGS, OP_NAME, "x times a number", NUM_INPUTS, NUM_OUTPUTS, SKIPPED, NULL, VALIDATE, SHAPE, DTYPE, DEVICE, FORWARD, BACKWARD,
};
static const bs_op second = {
    sizeof(bs_op), 0, SECOND_NAME, NULL, 1, 1, 0, NULL, NULL, NULL, NULL, NULL, times, NULL,
};
static const bs_op *const ops[] = {FIRST, &second};

static void destroy(const bs_plugin_table *table) {
    (void)table;
    AT_DESTROY;
}

static const bs_plugin_table table = {
    ABI, TABLE_SIZE, NAME, VERSION, "for tests", NULL, MIN, MAX, NUM_OPS, 0, OPS, destroy,
};

__attribute__((constructor)) static void at_load(void) { AT_LOAD; }

const void *const unused[] = {
    times, times_gradient, wrong_gradient, no_gradient, half_a_gradient, fails, refuses, panics, is_silent, is_strange, babbles, warns_once, sleeps, tells, sum_and_difference,
    sum_and_difference_gradient, positive, counts_looks, shape_of_16, shape_below_0, shape_too_long, shape_too_big, shape_empty_but_long, shape_refused,
    dtype_double, dtype_99, device_elsewhere, device_null, &first, &second, ops, &table,
};

#ifndef NO_ENTRY
BS_EXPORT const bs_plugin_table *create_plugin(const bs_host *host) {
    (void)host;
    AT_CREATE;
    return TABLE;
}
#endif
