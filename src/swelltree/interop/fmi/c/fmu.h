/* What both versions of the Functional Mock-up Interface have in common: one instance of a device,
 * the order of calls, values, steps and saved states. Nothing here trusts its arguments. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "fmu_identity.h" /* IDENTITY: what the host must name to get this device */

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { OK, WARNING, DISCARD, ERROR, FATAL };
enum { INSTANTIATED = 1, INITIALISING = 2, STEPPING = 4, TERMINATED = 8, EVENT = 16, CONTINUOUS = 32 };
enum { EXCHANGE = EVENT | CONTINUOUS, RUNNING = STEPPING | EXCHANGE };
enum { LIVE = INITIALISING | RUNNING, ANY = INSTANTIATED | LIVE | TERMINATED };

typedef struct {
    device_t *device;
    int mode;
    int exchange;  /* for model exchange: the host integrates */
    double offset; /* s, time of the host less that of the device */
    double stop;   /* s, of the host */
    void *host, *logger;
    char name[128];
} instance;

static void write_log(const instance *i, int status, const char *message);

static int report(const instance *i, int status, const char *format, ...)
{
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    write_log(i, status, text);
    return status;
}

/* May a function be called now? */
static int allowed(const instance *i, int modes, const char *function)
{
    static const char *const words[] = {"before initialisation", "in initialisation",
                                        "in the simulation", "after its end",
                                        "in event mode",     "in continuous-time mode"};
    int k = 0;
    if (!i) return 0;
    if (i->mode & modes) return 1;
    while (k < 5 && !(i->mode >> k & 1)) k++;
    report(i, ERROR, "%s cannot be called %s", function, words[k]);
    return 0;
}

static instance *instantiate(const char *name, const char *identity, int exchange, void *host,
                             void *logger)
{
    instance *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    snprintf(i->name, sizeof i->name, "%s", name ? name : "");
    i->host = host;
    i->logger = logger;
    i->mode = INSTANTIATED;
    i->exchange = exchange;
    i->stop = INFINITY;
    if (!identity || strcmp(identity, IDENTITY) != 0)
        report(i, ERROR, "the identity '%.100s' is not that of this FMU, %s",
               identity ? identity : "", IDENTITY);
    else if (!(i->device = malloc(device_size())))
        report(i, ERROR, "there is no memory for the device");
    else if (!device_init(i->device)) {
        report(i, ERROR, "this processor has no AVX2 and FMA, for which the device was made");
        free(i->device);
        i->device = NULL;
    }
    if (i->device && exchange && DEVICE_STATES == 0) {
        report(i, ERROR, "this FMU is for co-simulation only");
        free(i->device);
        i->device = NULL;
    }
    if (i->device) return i;
    free(i);
    return NULL;
}

static void release(instance *i)
{
    if (!i) return;
    free(i->device);
    free(i);
}

static int begin(instance *i, double start, int has_stop, double stop)
{
    double now;
    if (!isfinite(start) || (has_stop && !(stop >= start)))
        return report(i, ERROR, "start time %g s and stop time %g s are no span", start, stop);
    device_get(i->device, DEVICE_TIME, &now);
    i->offset = start - now;
    i->stop = has_stop ? stop : INFINITY;
    return OK;
}

static int reset(instance *i)
{
    device_init(i->device);
    i->mode = INSTANTIATED;
    i->offset = 0.0;
    i->stop = INFINITY;
    return OK;
}

static double time_of(const instance *i)
{
    double now = 0.0;
    device_get(i->device, DEVICE_TIME, &now);
    return now + i->offset;
}

static int get_values(instance *i, const uint32_t *refs, size_t n, double *values)
{
    size_t k;
    if (n && (!refs || !values)) return report(i, ERROR, "there is no memory for %zu values", n);
    for (k = 0; k < n; k++) {
        if (refs[k] >= (uint32_t)DEVICE_COUNT)
            return report(i, ERROR, "there is no variable with value reference %u", (unsigned)refs[k]);
        if (device_get(i->device, (int)refs[k], values + k) != DEVICE_OK)
            return report(i, DISCARD, "%s", device_message(i->device));
        if (refs[k] == DEVICE_TIME) values[k] += i->offset;
    }
    return OK;
}

static int set_values(instance *i, const uint32_t *refs, size_t n, const double *values)
{
    size_t k;
    if (n && (!refs || !values)) return report(i, ERROR, "there is no memory of %zu values", n);
    for (k = 0; k < n; k++) {
        if (refs[k] == DEVICE_TIME || refs[k] >= (uint32_t)DEVICE_FIRST_OUTPUT)
            return report(i, ERROR, "value reference %u is not an input or parameter",
                          (unsigned)refs[k]);
        if (device_set(i->device, (int)refs[k], values[k]) != DEVICE_OK)
            return report(i, DISCARD, "%s", device_message(i->device));
    }
    return OK;
}

static int step(instance *i, double from, double duration)
{
    double now = time_of(i), end = from + duration;
    if (!(fabs(from - now) <= 1e-9 * fmax(1.0, fabs(now))))
        return report(i, ERROR, "a step begins at %.12g s, but the device is at %.12g s", from, now);
    if (!(duration >= 0.0 && isfinite(duration)))
        return report(i, ERROR, "a step of %g s is not possible", duration);
    if (end > i->stop + 1e-9 * fmax(1.0, fabs(i->stop)))
        return report(i, ERROR, "a step ends at %.12g s, after the stop time %.12g s", end, i->stop);
    if (duration == 0.0) return OK;
    switch (device_step_to(i->device, end - i->offset)) {
    case DEVICE_OK: return OK;
    case DEVICE_REFUSED: return report(i, ERROR, "%s", device_message(i->device));
    default: return report(i, DISCARD, "%s", device_message(i->device));
    }
}

/* --- Model exchange: the host sets time and states and integrates the rates */

static double *row_of(size_t count) { return calloc(count, sizeof(double)); }

static int set_point(instance *i, double time, const double *states)
{
    if (device_set_states(i->device, time - i->offset, states) == DEVICE_OK) return OK;
    return report(i, DISCARD, "%s", device_message(i->device));
}

static int set_time(instance *i, double time)
{
    int result;
    double *states = row_of(DEVICE_STATES + 1);
    if (!states) return report(i, ERROR, "there is no memory for the states");
    device_get_states(i->device, states);
    result = set_point(i, time, states);
    free(states);
    return result;
}

static int has_states(const instance *i, const void *values, size_t n)
{
    if (values && n == (size_t)DEVICE_STATES) return 1;
    report(i, ERROR, "there are %d states, not %zu", DEVICE_STATES, values ? n : 0);
    return 0;
}

static int set_states(instance *i, const double *states, size_t n)
{
    return has_states(i, states, n) ? set_point(i, time_of(i), states) : ERROR;
}

static int get_states(instance *i, double *states, size_t n)
{
    if (!has_states(i, states, n)) return ERROR;
    device_get_states(i->device, states);
    return OK;
}

static int get_rates(instance *i, double *rates, size_t n)
{
    if (!has_states(i, rates, n)) return ERROR;
    if (device_rates(i->device, rates) == DEVICE_OK) return OK;
    return report(i, DISCARD, "%s", device_message(i->device));
}

static int get_nominals(instance *i, double *nominals, size_t n)
{
    size_t k;
    if (!has_states(i, nominals, n)) return ERROR;
    for (k = 0; k < n; k++) nominals[k] = 1.0;
    return OK;
}

static int known_references(instance *i, const uint32_t *refs, size_t n, int is_unknown)
{
    size_t k;
    for (k = 0; k < n; k++) {
        uint32_t r = refs[k], first = DEVICE_FIRST_OUTPUT, state = DEVICE_FIRST_STATE;
        int varies = (r > DEVICE_TIME && r < first) || (r >= state && r < state + DEVICE_STATES);
        int follows = (r >= first && r < state) || (r >= state + DEVICE_STATES && r < DEVICE_COUNT);
        if (!(is_unknown ? follows : varies)) {
            report(i, ERROR, "value reference %u is not %s", (unsigned)r,
                   is_unknown ? "an output or a rate" : "an input, parameter or state");
            return 0;
        }
    }
    return 1;
}

static int directional_derivative(instance *i, const uint32_t *unknown, size_t nu,
                                  const uint32_t *known, size_t nk, const double *seed, double *out)
{
    size_t k;
    double *rows;
    int result = OK;
    if (DEVICE_STATES == 0) return report(i, ERROR, "this FMU has no directional derivatives");
    if ((nu && (!unknown || !out)) || (nk && (!known || !seed)))
        return report(i, ERROR, "there is no memory for the derivatives");
    if (!known_references(i, unknown, nu, 1) || !known_references(i, known, nk, 0)) return ERROR;
    if (!(rows = row_of(2 * DEVICE_COUNT)))
        return report(i, ERROR, "there is no memory for the derivatives");
    for (k = 0; k < nk; k++) rows[known[k]] += seed[k];
    if (device_derivative(i->device, rows, rows + DEVICE_COUNT) != DEVICE_OK)
        result = report(i, DISCARD, "%s", device_message(i->device));
    for (k = 0; result == OK && k < nu; k++) out[k] = rows[DEVICE_COUNT + unknown[k]];
    free(rows);
    return result;
}

/* --- Saved states: what stands before the numbers of a device, and the numbers */

typedef struct {
    double offset, stop;
    int64_t mode, exchange;
    double numbers[];
} saved_state;

static size_t saved_bytes(void) { return sizeof(saved_state) + sizeof(double) * device_saved(); }

static int save(instance *i, void **state)
{
    saved_state *s;
    if (!state) return report(i, ERROR, "there is no place for a state");
    s = *state ? *state : malloc(saved_bytes());
    if (!s) return report(i, ERROR, "there is no memory for a state");
    s->offset = i->offset;
    s->stop = i->stop;
    s->mode = i->mode;
    s->exchange = i->exchange;
    device_save(i->device, s->numbers);
    *state = s;
    return OK;
}

static int restore(instance *i, const saved_state *s)
{
    if (!s) return report(i, ERROR, "there is no state");
    if (s->exchange != i->exchange)
        return report(i, ERROR, "the state is that of the other interface of this FMU");
    if (device_restore(i->device, s->numbers) != DEVICE_OK)
        return report(i, ERROR, "%s", device_message(i->device));
    i->offset = s->offset;
    i->stop = s->stop;
    i->mode = (int)s->mode;
    return OK;
}

/* Bytes of a state: two numbers that are found again only in a whole state of this device. */
typedef struct {
    uint64_t identity, sum;
} seal;

static uint64_t hash(const void *bytes, size_t n)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    const unsigned char *b = bytes;
    while (n--) h = (h ^ *b++) * 1099511628211u;
    return h;
}

static size_t serialized_bytes(void) { return sizeof(seal) + saved_bytes(); }

static int serialize(instance *i, const void *state, unsigned char *bytes, size_t n)
{
    seal s;
    if (!state || !bytes || n < serialized_bytes())
        return report(i, ERROR, "a state has %zu bytes, there is room for %zu", serialized_bytes(),
                      bytes ? n : 0);
    s.identity = hash(IDENTITY, strlen(IDENTITY));
    s.sum = hash(state, saved_bytes());
    memcpy(bytes, &s, sizeof s);
    memcpy(bytes + sizeof s, state, saved_bytes());
    return OK;
}

static int deserialize(instance *i, const unsigned char *bytes, size_t n, void **state)
{
    seal s;
    if (!bytes || !state || n != serialized_bytes())
        return report(i, ERROR, "a state has %zu bytes, not %zu", serialized_bytes(), bytes ? n : 0);
    memcpy(&s, bytes, sizeof s);
    if (s.identity != hash(IDENTITY, strlen(IDENTITY)))
        return report(i, ERROR, "the state is that of another FMU");
    if (s.sum != hash(bytes + sizeof s, saved_bytes()))
        return report(i, ERROR, "the bytes of the state have changed");
    if (!*state && !(*state = malloc(saved_bytes())))
        return report(i, ERROR, "there is no memory for a state");
    memcpy(*state, bytes + sizeof s, saved_bytes());
    return OK;
}
