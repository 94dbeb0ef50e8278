// The call: rows are computed one after the other; several threads, where they are allowed, share the work.
//
// Each value is computed by the same instructions whichever thread does it and wherever a part begins, so the result has
// the same bits with any number of threads. Threads live as long as a call: nothing is left for a fork to lose, and a
// host's own threads may call at once. They inherit the processors and the rounding mode of the thread that calls.
#include <csignal>
#include <pthread.h>

namespace brainsmith {

constexpr int MOST_THREADS = 64;
constexpr int64_t PARTS = 4;     // For each thread, so that one that is held up does not hold up all.
constexpr int64_t ALIGNED = 64;  // Columns of a part: whole lines of the cache.

struct Call {
    int64_t dims;
    const int64_t *shape;
    char *const *data;
    const int64_t *strides;
    int64_t along, part, next;
};

static void compute(const Call &call, int64_t first, int64_t stop) {
    const int64_t dims = call.dims, *strides = call.strides;
    char *at[ARRAYS];
    int64_t index[64] = {0}, shape[65], step[ARRAYS];
    for (int64_t d = 0; d <= dims; ++d) shape[d] = d == call.along ? stop - first : call.shape[d];
    for (int k = 0; k < ARRAYS; ++k) {
        at[k] = call.data[k] + first * strides[k * (dims + 1) + call.along];
        step[k] = strides[k * (dims + 1) + dims];
    }
    for (;;) {
        brainsmith_row(shape[dims], at, step);
        int64_t d = dims - 1;
        for (; d >= 0; --d) {
            const bool more = ++index[d] < shape[d];
            const int64_t moves = more ? 1 : 1 - shape[d];
            for (int k = 0; k < ARRAYS; ++k) at[k] += moves * strides[k * (dims + 1) + d];
            if (more) break;
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

// Take parts until there is none.
static void *work(void *given) {
    Call &call = *(Call *)given;
    const int64_t length = call.shape[call.along];
    for (;;) {
        const int64_t first = __atomic_fetch_add(&call.next, call.part, __ATOMIC_RELAXED);
        if (first >= length) return nullptr;
        compute(call, first, std::min(first + call.part, length));
    }
}

// A thread that cannot be started is done without; none of them takes the host's signals.
static void share(Call &call, int64_t threads) {
    pthread_t started[MOST_THREADS];
    int64_t count = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (count < threads - 1 && pthread_create(&started[count], nullptr, work, &call) == 0) ++count;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    work(&call);
    while (count > 0) pthread_join(started[--count], nullptr);
}

}  // namespace brainsmith

extern "C" void brainsmith_run(
    int64_t dims, const int64_t *shape, char *const *data, const int64_t *strides, int64_t threads
) {
    int64_t along = 0;
    for (int64_t d = 1; d < dims + !REDUCES; ++d) along = shape[d] > shape[along] ? d : along;
    brainsmith::Call call = {dims, shape, data, strides, along, 0, 0};
    threads = std::min<int64_t>(threads, brainsmith::MOST_THREADS);
    if (threads < 2 || (REDUCES && dims == 0)) return brainsmith::compute(call, 0, shape[along]);
    const int64_t parts = threads * brainsmith::PARTS, unit = along == dims ? brainsmith::ALIGNED : 1;
    call.part = (shape[along] / parts / unit + 1) * unit;
    brainsmith::share(call, threads);
}
