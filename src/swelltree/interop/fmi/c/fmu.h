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
enum { INSTANTIATED = 1, INITIALISING = 2, STEPPING = 4, TERMINATED = 8 };
enum { ANY = INSTANTIATED | INITIALISING | STEPPING | TERMINATED, LIVE = INITIALISING | STEPPING };

typedef struct {
    device_t *device;
    int mode;
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
                                        "in the simulation", "after its end"};
    int k = 0;
    if (!i) return 0;
    if (i->mode & modes) return 1;
    while (k < 3 && !(i->mode >> k & 1)) k++;
    report(i, ERROR, "%s cannot be called %s", function, words[k]);
    return 0;
}

static instance *instantiate(const char *name, const char *identity, void *host, void *logger)
{
    instance *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    snprintf(i->name, sizeof i->name, "%s", name ? name : "");
    i->host = host;
    i->logger = logger;
    i->mode = INSTANTIATED;
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

/* --- Saved states: what stands before the numbers of a device, and the numbers */

typedef struct {
    double offset, stop;
    int64_t mode;
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
    device_save(i->device, s->numbers);
    *state = s;
    return OK;
}

static int restore(instance *i, const saved_state *s)
{
    if (!s) return report(i, ERROR, "there is no state");
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
