/* brainsmith_plugin.h: the C interface between BrainSmith and a native plugin, version 1.
 *
 * A plugin is a shared library that exports one function:
 *
 *     const bs_plugin_table *create_plugin(const bs_host *host);
 *
 * It returns a table of operations. Each operation is a set of function pointers that all take one argument first, a
 * bs_call, and return a status. The language does not matter: C, C++, Rust, whatever can export a C function.
 *
 * Who owns what
 *   - The host allocates every array, inputs, outputs and gradients alike, and every descriptor, shape and buffer in a
 *     bs_call. They are valid until the function returns. Nothing is freed by the plugin, nothing kept by it. What is
 *     to be written overlaps with nothing else; inputs may be one and the same array.
 *   - The plugin owns its table and all that the table points to: strings, the array of operations, the operations,
 *     user data. They must not change, and must be valid until `destroy` is called, or where there is no `destroy`
 *     until the library is unloaded.
 *
 * What the plugin promises
 *   - Every function may be called from several threads at once.
 *   - No exception, panic or longjmp leaves a function; it becomes a status and a message.
 *   - Inputs are read only. Outputs and gradients are written whole: what the host allocates is not zeroed.
 *   - Nothing runs after `destroy` returns: threads that the plugin started have ended.
 *   - `create_plugin` does little: no threads, no input, no output. It runs in a child process first, and that process
 *     is ended if it takes longer than the host's limit.
 *
 * How the interface grows
 *   - BS_ABI_VERSION changes only when an existing field or promise changes. A host loads plugins of its own number.
 *   - Fields are only ever added at the end of a structure, and each structure that grows says its size first. A
 *     plugin sets `struct_size` to sizeof of its own header's structure; a host reads no field beyond it. Likewise a
 *     plugin that uses a later field of a structure that it is given looks at that structure's `struct_size` before.
 *   - Numbers of dtypes, flags and statuses are never used twice.
 *
 * The file is C89 with <stddef.h> and <stdint.h>, and C++.
 */
#ifndef BRAINSMITH_PLUGIN_H
#define BRAINSMITH_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define BS_ABI_VERSION 1u

/* The most dimensions that an array has. */
#define BS_MAX_NDIM 64

/* The most inputs, and the most outputs, of an operation. */
#define BS_MAX_INPUTS 64
#define BS_MAX_OUTPUTS 64

/* Put in front of create_plugin: it is exported, under this very name. */
#if defined(_WIN32)
#define BS_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define BS_EXPORT __attribute__((visibility("default")))
#else
#define BS_EXPORT
#endif

/* What a function returns. With anything but BS_OK it should write a message (see bs_call). */
typedef int32_t bs_status;
#define BS_OK 0            /* done */
#define BS_ERROR 1         /* it failed */
#define BS_INVALID_INPUT 2 /* the operation does not take these inputs */
#define BS_PANIC 3         /* a panic or an exception was caught: a bug in the plugin */

/* Types of elements; all in the machine's own byte order. */
typedef int32_t bs_dtype;
#define BS_FLOAT32 1
#define BS_FLOAT64 2
#define BS_FLOAT16 3 /* IEEE 754 binary16 */
#define BS_INT8 4
#define BS_INT16 5
#define BS_INT32 6
#define BS_INT64 7
#define BS_UINT8 8
#define BS_UINT16 9
#define BS_UINT32 10
#define BS_UINT64 11
#define BS_BOOL 12 /* one byte, 0 or 1 */

/* An array.
 *
 * In version 1 every array is contiguous in C order: the last index changes fastest, without gaps, and `strides` is NULL.
 * `data` is aligned to the size of an element; it may be anything where the array has no element.
 */
typedef struct bs_tensor {
    void *data;             /* the first element */
    const int64_t *shape;   /* `ndim` extents, each 0 or more */
    const int64_t *strides; /* NULL: contiguous */
    int64_t size;           /* the number of elements: the product of the extents, 1 where ndim is 0 */
    bs_dtype dtype;         /* BS_FLOAT32 ... */
    int32_t ndim;           /* 0 (one element) to BS_MAX_NDIM */
    const char *device;     /* where `data` is: "cpu" is this process's memory, and all that version 1 passes */
} bs_tensor;

/* What every function of an operation is given.
 *
 * Which arrays are there:
 *
 *     function                                    inputs         outputs           grad_outputs   grad_inputs
 *     validate                                    with data      NULL              NULL           NULL
 *     output_shape                                shapes alone   NULL              NULL           NULL
 *     output_dtype                                dtypes alone   NULL              NULL           NULL
 *     output_device                               devices alone  NULL              NULL           NULL
 *     forward                                     with data      to be written     NULL           NULL
 *     backward                                    with data      as forward left   with data      to be written
 *
 * "alone" means that nothing else of the descriptors is set: `data` is NULL, the other fields are 0 or NULL. A graph
 * that is not run asks the rules as well as a call.
 */
typedef struct bs_call {
    uint32_t struct_size;          /* sizeof(bs_call) of the host */
    uint32_t num_inputs;           /* as the operation says; the host has checked it */
    uint32_t num_outputs;          /* likewise */
    uint32_t reserved;             /* 0 */
    const bs_tensor *inputs;       /* `num_inputs` arrays */
    bs_tensor *outputs;            /* `num_outputs` arrays, of the shapes and dtypes that the rules gave */
    const bs_tensor *grad_outputs; /* the gradients of the outputs: their shapes and dtypes */
    bs_tensor *grad_inputs;        /* the gradients of the inputs: their shapes and dtypes; `data` is NULL for an input
                                      that is not differentiable: it is not to be written */
    void *user_data;               /* of the operation */
    char *error;                   /* where a message goes: UTF-8, ended by a zero byte; never NULL */
    size_t error_size;             /* bytes that fit there, the zero byte included */
} bs_call;

/* Look at the inputs: their shapes, dtypes, and values. BS_INVALID_INPUT and a message refuse them. The host has checked
 * their number. */
typedef bs_status (*bs_validate_fn)(const bs_call *call);

/* Give the shape of output number `output`: write the extents to `shape`, which has room for BS_MAX_NDIM, and their
 * number to `ndim`. The answer depends on the inputs' shapes only; the host may remember it. */
typedef bs_status (*bs_output_shape_fn)(const bs_call *call, uint32_t output, int64_t *shape, int32_t *ndim);

/* Give the dtype of output number `output`. The answer depends on the inputs' dtypes only; the host may remember it. */
typedef bs_status (*bs_output_dtype_fn)(const bs_call *call, uint32_t output, bs_dtype *dtype);

/* Give the device of output number `output`: a string that lives as long as the plugin, or one of the inputs' own. */
typedef bs_status (*bs_output_device_fn)(const bs_call *call, uint32_t output, const char **device);

/* Write the outputs. `validate` has accepted the inputs, unless BS_VALIDATE_BY_SHAPE allows to ask once for all inputs of
 * the same shapes and dtypes. */
typedef bs_status (*bs_forward_fn)(const bs_call *call);

/* Write the gradient of each input: the derivative of the outputs, applied to `grad_outputs`. It is asked only where the
 * differentiable inputs are of floating point. */
typedef bs_status (*bs_backward_fn)(const bs_call *call);

/* Flags of an operation. */
#define BS_VALIDATE_BY_SHAPE 1u /* `validate` looks at shapes and dtypes, not at values: its answer may be remembered */

/* One operation. A NULL function has the meaning that is stated beside it. */
typedef struct bs_op {
    uint32_t struct_size;        /* sizeof(bs_op) */
    uint32_t flags;              /* BS_VALIDATE_BY_SHAPE, or 0; other bits must be 0 */
    const char *name;            /* letters, digits and underscores, not a digit first; unique among all operations */
    const char *description;     /* one line; NULL: none */
    uint32_t num_inputs;         /* 1 to BS_MAX_INPUTS */
    uint32_t num_outputs;        /* 1 to BS_MAX_OUTPUTS */
    uint64_t not_differentiable; /* bit i: input i has no gradient */
    void *user_data;             /* the plugin's own; comes back in every bs_call */
    bs_validate_fn validate;           /* NULL: every input is taken */
    bs_output_shape_fn output_shape;   /* NULL: the first input's */
    bs_output_dtype_fn output_dtype;   /* NULL: the first input's */
    bs_output_device_fn output_device; /* NULL: the first input's */
    bs_forward_fn forward;             /* required */
    bs_backward_fn backward;           /* NULL: the operation has no gradient */
} bs_op;

/* What create_plugin returns. */
typedef struct bs_plugin_table {
    uint32_t abi_version;       /* BS_ABI_VERSION */
    uint32_t struct_size;       /* sizeof(bs_plugin_table) */
    const char *name;           /* the bundle's name: as an operation's */
    const char *version;        /* "major.minor.patch" */
    const char *description;    /* one line; NULL: none */
    const char *author;         /* NULL: none */
    const char *min_brainsmith; /* the oldest host that it works with, "0.1.0"; NULL: any */
    const char *max_brainsmith; /* the newest; NULL: any */
    uint32_t num_ops;           /* 1 or more */
    uint32_t reserved;          /* 0 */
    const bs_op *const *ops;    /* `num_ops` pointers */
    void (*destroy)(const struct bs_plugin_table *table); /* called once, before unloading; NULL: nothing to do */
} bs_plugin_table;

/* What create_plugin is given. It is valid until create_plugin returns. */
typedef struct bs_host {
    uint32_t struct_size; /* sizeof(bs_host) of the host */
    uint32_t abi_version; /* BS_ABI_VERSION of the host; a plugin that needs another may return NULL */
    const char *version;  /* the host's own version, "0.1.0" */
    char *error;          /* where a plugin that returns NULL says why: as in bs_call */
    size_t error_size;
} bs_host;

/* The one function that a plugin exports. It returns NULL, with a message in `host->error`, if it cannot work here.
 * It is called once for each time that the library is loaded. */
BS_EXPORT const bs_plugin_table *create_plugin(const bs_host *host);
typedef const bs_plugin_table *(*bs_create_plugin_fn)(const bs_host *host);

/* The sizes on which host and plugin agree, on 64-bit machines: a compiler that packs otherwise stops here. */
#if UINTPTR_MAX == 0xFFFFFFFFFFFFFFFFu
typedef char bs_assert_size_of_tensor[sizeof(bs_tensor) == 48 ? 1 : -1];
typedef char bs_assert_size_of_call[sizeof(bs_call) == 72 ? 1 : -1];
typedef char bs_assert_size_of_op[sizeof(bs_op) == 96 ? 1 : -1];
typedef char bs_assert_size_of_plugin_table[sizeof(bs_plugin_table) == 80 ? 1 : -1];
typedef char bs_assert_size_of_host[sizeof(bs_host) == 32 ? 1 : -1];
#endif

#ifdef __cplusplus
}
#endif

#endif /* BRAINSMITH_PLUGIN_H */
