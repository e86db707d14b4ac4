/* State, steps and variables of one device; the programs that it calls are in device_model.o. */
#include "device.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "device_data.h"
#if defined(NEEDS_AVX2) && defined(__GNUC__) && defined(__x86_64__)
#include <cpuid.h>
#endif

/* rows of 8 bytes per number: whole numbers and flags stand in them as 64-bit integers */
void device_run(const double *model, const double *in, double *out, double *work);
extern const double device_model[], device_start[];

enum { NOW = AT_NOW, BEFORE = NOW + INPUTS, SINCE = BEFORE + INPUTS, PARAMETER = SINCE + 1 };
enum { FIRST_INPUT = 1, FIRST_PARAMETER = 1 + INPUTS, FIRST_OUTPUT = FIRST_PARAMETER + PARAMETERS };
enum { COUNT = FIRST_OUTPUT + OUTPUTS, MAX_STEP = 100000 /* s */ };

struct device_state {
    double time;             /* s */
    double window;           /* first block of the wave loads that are in the inputs */
    double given[INPUTS + 1];   /* inputs as set since the last step */
    double stale;            /* the results are not those of this instant */
    double in[SIZE_IN], out[SIZE_OUT], work[SIZE_WORK];
#ifdef WAVE_STEP
    double block[2 * BLOCK * FORCES], sums[SIZE_SUMS];
#endif
    char message[240];
};

static int refuse(device_t *d, const char *what, const char *name, double value)
{
    snprintf(d->message, sizeof d->message, "%s%s%s: %g %s", name ? "'" : "", name ? name : "step",
             name ? "'" : "", value, what);
    return DEVICE_REFUSED;
}

/* --- Wave loads: a window of blocks of rows, which moves along with time */

#ifdef WAVE_STEP
void device_waves(const double *sums, const double *begin, double *out, double *work);
extern const double device_sums[];

enum { FORCE = AT_LOADS + 1, RATE = FORCE + BLOCKS * BLOCK * FORCES };
enum { BEGIN = RATE + BLOCKS * BLOCK * FORCES, IN_BLOCK = BLOCK * FORCES };

static double begin_of(double block) { return WAVE_STEP * (BLOCK * block); }

static void sum_block(device_t *d, int k)
{
    double begin = begin_of(d->window + k);
    device_waves(device_sums, &begin, d->block, d->sums);
    memcpy(d->in + FORCE + k * IN_BLOCK, d->block, sizeof(double) * IN_BLOCK);
    memcpy(d->in + RATE + k * IN_BLOCK, d->block + IN_BLOCK, sizeof(double) * IN_BLOCK);
}

static void place_window(device_t *d, double first)
{
    int k;
    d->window = first;
    d->in[BEGIN] = begin_of(first);
    for (k = 0; k < BLOCKS; k++) sum_block(d, k);
}

/* End of a step towards a time, as far as loads reach: those before now are replaced by others. */
static double covered(device_t *d, double target)
{
    double ready = begin_of(d->window + BLOCKS) - 2 * WAVE_STEP, end;
    while (ready < target && begin_of(d->window + 2) <= d->time) {
        memmove(d->in + FORCE, d->in + FORCE + IN_BLOCK, sizeof(double) * (BLOCKS - 1) * IN_BLOCK);
        memmove(d->in + RATE, d->in + RATE + IN_BLOCK, sizeof(double) * (BLOCKS - 1) * IN_BLOCK);
        d->window += 1;
        d->in[BEGIN] = begin_of(d->window);
        sum_block(d, BLOCKS - 1);
        ready = begin_of(d->window + BLOCKS) - 2 * WAVE_STEP;
    }
    if (ready >= target) return target;
    end = FIXED_STEP > 0 ? d->time + FIXED_STEP * floor((ready - d->time) / FIXED_STEP) : ready;
    return end > d->time ? end : ready;
}
#else
static double covered(device_t *d, double target)
{
    (void)d;
    return target;
}
#endif

/* --- Steps */

/* The state has another rate, and no event is known to come. */
static void forget_rate(device_t *d)
{
    d->in[RATE_KNOWN] = 0.0;
    d->in[CROSSING] = INFINITY;
    d->stale = 1.0;
}

/* Inputs that were set are held from now on. */
static void hold_inputs(device_t *d)
{
    if (memcmp(d->in + NOW, d->given, sizeof(double) * INPUTS) == 0) return;
    memcpy(d->in + BEFORE, d->in + NOW, sizeof(double) * INPUTS);
    memcpy(d->in + NOW, d->given, sizeof(double) * INPUTS);
    d->in[SINCE] = d->time;
    forget_rate(d);
}

/* Results at the end of a step: success or not. */
static int run(device_t *d, double end)
{
    int64_t code;
    d->in[AT_TIMES] = d->time;
    d->in[AT_TIMES + 1] = end;
    device_run(device_model, d->in, d->out, d->work);
    memcpy(&code, d->out + CODE, sizeof code);
    d->stale = code != 0;
    if (code == 0) return DEVICE_OK;
    snprintf(d->message, sizeof d->message, "in the step from t = %.9g s %s", d->time,
             code > 0 && code < CODES ? reasons[code] : reasons[0]);
    return DEVICE_STOPPED;
}

int device_step_to(device_t *d, double target)
{
    if (!(target > d->time && target <= d->time + MAX_STEP))
        return refuse(d, "s is not between 0 and 100000 s after now", NULL, target - d->time);
    if (target > LAST_TIME * (1.0 + 1e-12))
        return refuse(d, "s is after the end of the wave loads that were exported", NULL, target);
    hold_inputs(d);
    while (d->time < target) {
        double end = covered(d, target);
        int result = run(d, end);
        if (result != DEVICE_OK) return result;
        memcpy(d->in, d->out, sizeof(double) * CARRY);
        d->time = end;
    }
    return DEVICE_OK;
}

int device_step(device_t *d, double duration) { return device_step_to(d, d->time + duration); }

/* --- Variables */

int device_set(device_t *d, int variable, double value)
{
    const char *name = variable > 0 && variable < COUNT ? device_name(variable) : NULL;
    if (!name || variable >= FIRST_OUTPUT)
        return refuse(d, "is not the number of an input or parameter", name, variable);
    if (!isfinite(value)) return refuse(d, "is not finite", name, value);
    if (!(fabs(value) <= variables[variable].limit))
        return refuse(d, "is more than this variable allows", name, value);
    if (variable < FIRST_PARAMETER) {
        d->given[variable - FIRST_INPUT] = value;
        return DEVICE_OK;
    }
    if (!variables[variable].tunable && d->time != BEGIN_TIME)
        return refuse(d, "comes after the first step, where this number is fixed", name, value);
    d->in[PARAMETER + variable - FIRST_PARAMETER] = value;
    forget_rate(d);
    return DEVICE_OK;
}

int device_get(device_t *d, int variable, double *value)
{
    if (variable < 0 || variable >= COUNT)
        return refuse(d, "is not the number of a variable", NULL, variable);
    if (variable == 0) *value = d->time;
    else if (variable < FIRST_PARAMETER) *value = d->given[variable - FIRST_INPUT];
    else if (variable < FIRST_OUTPUT) *value = d->in[PARAMETER + variable - FIRST_PARAMETER];
    else {
        hold_inputs(d);
        if (d->stale != 0.0) {
            int result = run(d, d->time);
            if (result != DEVICE_OK) return result;
        }
        *value = d->out[AT_OUTPUTS + variable - FIRST_OUTPUT];
    }
    return DEVICE_OK;
}

int device_count(void) { return COUNT; }

const char *device_name(int variable)
{
    return variable >= 0 && variable < COUNT ? variables[variable].name : "";
}

const char *device_unit(int variable)
{
    return variable >= 0 && variable < COUNT ? variables[variable].unit : "";
}

const char *device_message(const device_t *d) { return d->message; }

/* --- Beginning, saving */

/* Does this processor have what the programs were made for, and does the system keep its registers? */
static int runs_here(void)
{
#if defined(NEEDS_AVX2) && defined(__GNUC__) && defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_FMA) || !(c & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
#else
    return 1;
#endif
}

size_t device_size(void) { return sizeof(device_t); }

device_t *device_init(void *memory)
{
    device_t *d = memory;
    if (!runs_here()) return NULL;
    memset(d, 0, sizeof *d);
    memcpy(d->in, device_start, sizeof d->in);
    d->time = BEGIN_TIME;
    d->stale = 1.0;
#ifdef WAVE_STEP
    place_window(d, fmax(floor(BEGIN_TIME / (WAVE_STEP * BLOCK)) - 1.0, 0.0));
#endif
    return d;
}

/* time, window, stale, inputs that are set, the state with all that is held, the outputs */
enum { HEAD = 3, SET = HEAD + INPUTS, STATE = SET + AT_LOADS };

size_t device_saved(void) { return STATE + OUTPUTS; }

void device_save(const device_t *d, double *saved)
{
    saved[0] = d->time;
    saved[1] = d->window;
    saved[2] = d->stale;
    memcpy(saved + HEAD, d->given, sizeof(double) * INPUTS);
    memcpy(saved + SET, d->in, sizeof(double) * AT_LOADS);
    memcpy(saved + STATE, d->out + AT_OUTPUTS, sizeof(double) * OUTPUTS);
}

/* Are the loads of a saved state those about its time? */
static int has_loads(const double *saved)
{
#ifdef WAVE_STEP
    double first = saved[1];
    return first >= 0.0 && first == floor(first) && begin_of(first) <= saved[0] &&
           saved[0] <= begin_of(first + BLOCKS);
#else
    return saved[1] == 0.0;
#endif
}

int device_restore(device_t *d, const double *saved)
{
    if (!(saved[0] >= BEGIN_TIME && saved[0] <= 1e12) || !has_loads(saved))
        return refuse(d, "s is not the time of a saved state", NULL, saved[0]);
    d->time = saved[0];
    d->stale = saved[2];
    memcpy(d->given, saved + HEAD, sizeof(double) * INPUTS);
    memcpy(d->in, saved + SET, sizeof(double) * AT_LOADS);
    memcpy(d->out + AT_OUTPUTS, saved + STATE, sizeof(double) * OUTPUTS);
#ifdef WAVE_STEP
    if (saved[1] != d->window) place_window(d, saved[1]);
#endif
    return DEVICE_OK;
}
