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
enum { FIRST_INPUT = 1, FIRST_ELEVATION = 1 + INPUTS };
enum { FIRST_PARAMETER = FIRST_ELEVATION + ELEVATIONS, FIRST_OUTPUT = FIRST_PARAMETER + PARAMETERS };
enum { FIRST_STATE = FIRST_OUTPUT + OUTPUTS, FIRST_RATE = FIRST_STATE + STATES };
enum { COUNT = FIRST_RATE + STATES, MAX_STEP = 100000 /* s */ };

#if ELEVATIONS
/* Elevations on the grid of the loads, and before them: number of the first one and how many there
 * are, time of the last input, last inputs, inputs as set. */
enum { MORE = 64, KEPT = LAGS + LEAD_ROWS + 16 + 2 * MORE };
enum { LAST = 3, GIVEN = LAST + ELEVATIONS, GRID = GIVEN + ELEVATIONS };
enum { RECORD = GRID + ELEVATIONS * KEPT };
#else
enum { RECORD = 0 };
#endif

struct device_state {
    double time;             /* s */
    double window;           /* first block of the wave loads that are in the inputs */
    double given[INPUTS + 1];   /* inputs as set since the last step */
    double stale;            /* the results are not those of this instant */
    double set;              /* the states were set, and no step was made since */
    double in[SIZE_IN], out[SIZE_OUT], work[SIZE_WORK];
#if ELEVATIONS
    double record[RECORD];
#endif
#if defined(WAVE_STEP) && !ELEVATIONS
    double block[2 * BLOCK * FORCES], sums[SIZE_SUMS];
#endif
#if STATES
    double ode_in[SIZE_ODE_IN], ode_out[SIZE_ODE_OUT], ode_work[SIZE_ODE_WORK];
    double tangent_in[SIZE_TANGENT_IN], tangent_out[SIZE_TANGENT_OUT];
    double tangent_work[SIZE_TANGENT_WORK];
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

#if ELEVATIONS
extern const double device_kernel[]; /* (LAGS, FORCES), from AHEAD rows before the elevation on */

enum { FORCE = AT_LOADS + 1, RATE = FORCE + BLOCKS * BLOCK * FORCES };
enum { BEGIN = RATE + BLOCKS * BLOCK * FORCES, ROWS = BLOCKS * BLOCK };

/* Still water before the first input. */
static void begin_record(device_t *d)
{
    memset(d->record, 0, sizeof d->record);
    d->record[0] = floor(BEGIN_TIME / WAVE_STEP) - LAGS - 4;
    d->record[1] = floor((BEGIN_TIME + LEAD) / WAVE_STEP) - d->record[0] + 1;
    d->record[2] = BEGIN_TIME + LEAD;
}

/* The inputs of now, which are ahead of it: between them and the last ones a straight line. */
static void extend_record(device_t *d)
{
    double *r = d->record, time = d->time + LEAD, grid;
    int e, count = (int)r[1];
    while ((grid = (r[0] + count) * WAVE_STEP) <= time) {
        double part = time > r[2] ? (grid - r[2]) / (time - r[2]) : 1.0;
        if (count == KEPT) {
            for (e = 0; e < ELEVATIONS; e++)
                memmove(r + GRID + e * KEPT, r + GRID + e * KEPT + MORE,
                        sizeof(double) * (KEPT - MORE));
            r[0] += MORE;
            count -= MORE;
        }
        for (e = 0; e < ELEVATIONS; e++)
            r[GRID + e * KEPT + count] = r[LAST + e] + part * (r[GIVEN + e] - r[LAST + e]);
        count++;
    }
    r[1] = count;
    r[2] = time;
    memcpy(r + LAST, r + GIVEN, sizeof(double) * ELEVATIONS);
}

static void sum_row(const device_t *d, double number, double *force)
{
    const double *r = d->record;
    double newest = number + AHEAD - r[0];
    int f, j;
    for (f = 0; f < FORCES; f++) force[f] = 0.0;
    for (j = 0; j < LAGS; j++) {
        double at = newest - j;
        if (!(at >= 0.0 && at < r[1])) continue;
        for (f = 0; f < FORCES; f++)
            force[f] += device_kernel[j * FORCES + f] * r[GRID + record_of[f] * KEPT + (int)at];
    }
}

/* The loads from before now until after a time, with rates by central differences. */
static double covered(device_t *d, double target)
{
    double first = floor(d->time / WAVE_STEP) - 1.0, before[FORCES], after[FORCES];
    int f, k, last = (int)fmin(ceil(target / WAVE_STEP) + 2.0 - first, ROWS - 1);
    double *row = d->in + FORCE;
    memset(row, 0, sizeof(double) * 2 * ROWS * FORCES);
    d->in[BEGIN] = first * WAVE_STEP;
    for (k = 0; k <= last; k++) sum_row(d, first + k, row + k * FORCES);
    sum_row(d, first - 1.0, before);
    sum_row(d, first + last + 1.0, after);
    for (k = 0; k <= last; k++)
        for (f = 0; f < FORCES; f++) {
            double low = k ? row[(k - 1) * FORCES + f] : before[f];
            double high = k < last ? row[(k + 1) * FORCES + f] : after[f];
            d->in[RATE + k * FORCES + f] = (high - low) / (2 * WAVE_STEP);
        }
    return target;
}
#elif defined(WAVE_STEP)
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

#if STATES
/* A window about a time, wherever the last one was. */
static void reach(device_t *d, double time)
{
    double first = fmax(floor(time / (WAVE_STEP * BLOCK)) - 3.0, 0.0);
    int behind = d->window > 0.0 && time < begin_of(d->window + 1);
    if (behind || time > begin_of(d->window + BLOCKS) - 2 * WAVE_STEP) place_window(d, first);
}
#endif
#else
#if STATES
static void reach(device_t *d, double time) { (void)d, (void)time; }
#endif
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
#if ELEVATIONS
    if (target > d->time + LONGEST_STEP * (1.0 + 1e-9))
        return refuse(d, "s is longer than the elevation is ahead", NULL, target - d->time);
    extend_record(d);
#endif
    hold_inputs(d);
    if (d->set != 0.0) forget_rate(d);
    d->set = 0.0;
    while (d->time < target) {
        double end = covered(d, target);
        int result = run(d, end);
        if (result != DEVICE_OK) return result;
        memcpy(d->in, d->out, sizeof(double) * CARRY);
        d->time = end;
    }
    return DEVICE_OK;
}

/* --- Equations of motion: rates of the states, and their derivatives */

int device_states(void) { return STATES; }

#if STATES
void device_ode(const double *model, const double *in, double *out, double *work);
void device_tangent(const double *model, const double *in, double *out, double *work);
extern const double device_ode_model[], device_tangent_model[];

/* parameters and loads end the rows of all programs */
enum { TAIL = SIZE_IN - PARAMETER, VARIED = STATES + 1 + INPUTS };

static void write_point(const device_t *d, double *row, double *tail)
{
    int k;
    for (k = 0; k < STATES; k++) row[k] = d->in[state_at[k]];
    row[STATES] = d->time;
    memcpy(row + STATES + 1, d->given, sizeof(double) * INPUTS);
    memcpy(tail, d->in + PARAMETER, sizeof(double) * TAIL);
}

static int not_finite(device_t *d, const double *values, int count)
{
    while (count--)
        if (!isfinite(*values++)) {
            snprintf(d->message, sizeof d->message,
                     "at t = %.9g s the equations of motion have no finite solution", d->time);
            return DEVICE_STOPPED;
        }
    return DEVICE_OK;
}

static int evaluate(device_t *d)
{
    write_point(d, d->ode_in, d->ode_in + VARIED);
    device_ode(device_ode_model, d->ode_in, d->ode_out, d->ode_work);
    return not_finite(d, d->ode_out + AT_RATES, STATES);
}

void device_get_states(const device_t *d, double *states)
{
    int k;
    for (k = 0; k < STATES; k++) states[k] = d->in[state_at[k]];
}

int device_set_states(device_t *d, double time, const double *states)
{
    int k;
    if (!(time >= BEGIN_TIME - 1e-9 && time <= LAST_TIME * (1.0 + 1e-12) && time <= 1e12))
        return refuse(d, "s is not a time of this device", NULL, time);
    for (k = 0; k < STATES; k++)
        if (!isfinite(states[k])) return refuse(d, "is not finite", device_name(FIRST_STATE + k), states[k]);
    for (k = 0; k < STATES; k++) d->in[state_at[k]] = states[k];
    d->time = d->in[STATE_TIME] = d->in[SAMPLED] = time;
    d->stale = d->set = 1.0;
    reach(d, time);
    return DEVICE_OK;
}

int device_rates(device_t *d, double *rates)
{
    int result = evaluate(d);
    if (result == DEVICE_OK) memcpy(rates, d->ode_out + AT_RATES, sizeof(double) * STATES);
    return result;
}

int device_derivative(device_t *d, const double *seed, double *change)
{
    double *row = d->tangent_in, *out = d->tangent_out;
    int result;
    reach(d, d->time);
    write_point(d, row, row + VARIED + STATES + INPUTS + PARAMETERS);
    row += VARIED;
    memcpy(row, seed + FIRST_STATE, sizeof(double) * STATES);
    memcpy(row + STATES, seed + FIRST_INPUT, sizeof(double) * (INPUTS + PARAMETERS));
    device_tangent(device_tangent_model, d->tangent_in, out, d->tangent_work);
    result = not_finite(d, out + AT_TANGENT_RATES, STATES);
    if (result == DEVICE_OK) result = not_finite(d, out + AT_TANGENT_OUTPUTS, OUTPUTS);
    if (result != DEVICE_OK) return result;
    memset(change, 0, sizeof(double) * COUNT);
    memcpy(change + FIRST_RATE, out + AT_TANGENT_RATES, sizeof(double) * STATES);
    memcpy(change + FIRST_OUTPUT, out + AT_TANGENT_OUTPUTS, sizeof(double) * OUTPUTS);
    return DEVICE_OK;
}
#else
static int not_exported(device_t *d)
{
    snprintf(d->message, sizeof d->message, "the equations of motion were not exported");
    return DEVICE_REFUSED;
}

void device_get_states(const device_t *d, double *states) { (void)d, (void)states; }

int device_set_states(device_t *d, double time, const double *states)
{
    (void)time, (void)states;
    return not_exported(d);
}

int device_rates(device_t *d, double *rates)
{
    (void)rates;
    return not_exported(d);
}

int device_derivative(device_t *d, const double *seed, double *change)
{
    (void)seed, (void)change;
    return not_exported(d);
}
#endif

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
    if (variable < FIRST_ELEVATION) {
        d->given[variable - FIRST_INPUT] = value;
        return DEVICE_OK;
    }
#if ELEVATIONS
    if (variable < FIRST_PARAMETER) {
        d->record[GIVEN + variable - FIRST_ELEVATION] = value;
        return DEVICE_OK;
    }
#endif
    if (!variables[variable].tunable && d->time != BEGIN_TIME)
        return refuse(d, "comes after the first step, where this number is fixed", name, value);
    d->in[PARAMETER + variable - FIRST_PARAMETER] = value;
    forget_rate(d);
    return DEVICE_OK;
}

#if STATES
/* States, rates, and outputs where the states were set. */
static int get_by_equations(device_t *d, int variable, double *value)
{
    int result;
    if (variable >= FIRST_STATE && variable < FIRST_RATE) {
        *value = d->in[state_at[variable - FIRST_STATE]];
        return DEVICE_OK;
    }
    reach(d, d->time);
    result = evaluate(d);
    if (result != DEVICE_OK) return result;
    *value = variable < FIRST_STATE ? d->ode_out[AT_ODE_OUTPUTS + variable - FIRST_OUTPUT]
                                    : d->ode_out[AT_RATES + variable - FIRST_RATE];
    return DEVICE_OK;
}
#endif

int device_get(device_t *d, int variable, double *value)
{
    if (variable < 0 || variable >= COUNT)
        return refuse(d, "is not the number of a variable", NULL, variable);
    if (variable == 0) *value = d->time;
    else if (variable < FIRST_ELEVATION) *value = d->given[variable - FIRST_INPUT];
#if ELEVATIONS
    else if (variable < FIRST_PARAMETER) *value = d->record[GIVEN + variable - FIRST_ELEVATION];
#endif
    else if (variable < FIRST_OUTPUT) *value = d->in[PARAMETER + variable - FIRST_PARAMETER];
#if STATES
    else if (d->set != 0.0 || variable >= FIRST_STATE) return get_by_equations(d, variable, value);
#endif
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
#if ELEVATIONS
    begin_record(d);
    covered(d, d->time);
#elif defined(WAVE_STEP)
    place_window(d, fmax(floor(BEGIN_TIME / (WAVE_STEP * BLOCK)) - 1.0, 0.0));
#endif
    return d;
}

/* time, window, stale, set, inputs that are set, the state with all that is held, the outputs */
enum { HEAD = 4, SET = HEAD + INPUTS, STATE = SET + AT_LOADS };

size_t device_saved(void) { return STATE + OUTPUTS + RECORD; }

void device_save(const device_t *d, double *saved)
{
    saved[0] = d->time;
    saved[1] = d->window;
    saved[2] = d->stale;
    saved[3] = d->set;
    memcpy(saved + HEAD, d->given, sizeof(double) * INPUTS);
    memcpy(saved + SET, d->in, sizeof(double) * AT_LOADS);
    memcpy(saved + STATE, d->out + AT_OUTPUTS, sizeof(double) * OUTPUTS);
#if ELEVATIONS
    memcpy(saved + STATE + OUTPUTS, d->record, sizeof d->record);
#endif
}

/* Are the loads of a saved state those about its time? */
static int has_loads(const double *saved)
{
#if ELEVATIONS
    const double *r = saved + STATE + OUTPUTS;
    int whole = r[0] == floor(r[0]) && r[1] == floor(r[1]);
    return saved[1] == 0.0 && whole && fabs(r[0]) < 1e12 && r[1] >= 0.0 && r[1] <= KEPT &&
           fabs(r[2] - saved[0] - LEAD) <= LONGEST_STEP * 1.01 &&
           fabs((r[0] + r[1]) * WAVE_STEP - r[2]) <= 2 * WAVE_STEP;
#elif defined(WAVE_STEP)
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
    d->set = saved[3];
    memcpy(d->given, saved + HEAD, sizeof(double) * INPUTS);
    memcpy(d->in, saved + SET, sizeof(double) * AT_LOADS);
    memcpy(d->out + AT_OUTPUTS, saved + STATE, sizeof(double) * OUTPUTS);
#if ELEVATIONS
    memcpy(d->record, saved + STATE + OUTPUTS, sizeof d->record);
    covered(d, d->time);
#elif defined(WAVE_STEP)
    if (saved[1] != d->window) place_window(d, saved[1]);
#endif
    return DEVICE_OK;
}
