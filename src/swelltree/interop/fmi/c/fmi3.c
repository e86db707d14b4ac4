/* FMI 3.0 of one device, for co-simulation and model exchange. The interface: fmi-standard.org, version 3.0.2. */
#include <stdbool.h>

#include "fmu.h"

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter" /* of functions that only say they are not */
#endif

typedef int fmi3Status;
typedef uint32_t fmi3Ref;
typedef const char *fmi3String;
typedef const uint8_t *fmi3Binary;
typedef void (*fmi3Logger)(void *, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3Function)(void);

static void write_log(const instance *i, int status, const char *message)
{
    fmi3Logger log;
    memcpy(&log, &i->logger, sizeof log);
    if (log) log(i->host, status, status == DISCARD ? "logStatusDiscard" : "logStatusError", message);
}

#define CHECK(modes, name)                                                                         \
    instance *i = c;                                                                               \
    if (!allowed(i, modes, name)) return ERROR

EXPORT fmi3String fmi3GetVersion(void) { return "3.0"; }

EXPORT fmi3Status fmi3SetDebugLogging(void *c, bool on, size_t n, const fmi3String names[])
{
    CHECK(ANY, "fmi3SetDebugLogging");
    return OK; /* only failures are logged, always */
}

EXPORT void *fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         bool visible, bool on, bool event_mode, bool early_return,
                                         const fmi3Ref required[], size_t n, void *host,
                                         fmi3Logger log, fmi3Function update)
{
    void *logger;
    memcpy(&logger, &log, sizeof logger);
    return instantiate(name, token, 0, host, logger);
}

EXPORT void *fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          bool visible, bool on, void *host, fmi3Logger log)
{
    void *logger;
    memcpy(&logger, &log, sizeof logger);
    return instantiate(name, token, 1, host, logger);
}

EXPORT void *fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token,
                                               fmi3String resources, bool visible, bool on,
                                               void *host, fmi3Logger log, fmi3Function update,
                                               fmi3Function lock, fmi3Function unlock)
{
    return NULL;
}

EXPORT void fmi3FreeInstance(void *c) { release(c); }

EXPORT fmi3Status fmi3EnterInitializationMode(void *c, bool has_tolerance, double tolerance,
                                              double start, bool has_stop, double stop)
{
    int result;
    CHECK(INSTANTIATED, "fmi3EnterInitializationMode");
    result = begin(i, start, has_stop, stop);
    if (result == OK) i->mode = INITIALISING;
    return result;
}

EXPORT fmi3Status fmi3ExitInitializationMode(void *c)
{
    CHECK(INITIALISING, "fmi3ExitInitializationMode");
    i->mode = i->exchange ? EVENT : STEPPING;
    return OK;
}

EXPORT fmi3Status fmi3Terminate(void *c)
{
    CHECK(RUNNING, "fmi3Terminate");
    i->mode = TERMINATED;
    return OK;
}

EXPORT fmi3Status fmi3Reset(void *c)
{
    CHECK(ANY, "fmi3Reset");
    return reset(i);
}

EXPORT fmi3Status fmi3DoStep(void *c, double from, double duration, bool no_return, bool *event,
                             bool *end, bool *early, double *last)
{
    int result;
    CHECK(STEPPING, "fmi3DoStep");
    result = step(i, from, duration);
    if (event) *event = false;
    if (end) *end = false;
    if (early) *early = false;
    if (last) *last = time_of(i);
    return result;
}

static int same_count(const instance *i, size_t references, size_t values)
{
    if (references == values) return 1;
    report(i, ERROR, "%zu value references come with %zu values", references, values);
    return 0;
}

EXPORT fmi3Status fmi3GetFloat64(void *c, const fmi3Ref r[], size_t n, double v[], size_t m)
{
    CHECK(LIVE | TERMINATED, "fmi3GetFloat64");
    return same_count(i, n, m) ? get_values(i, r, n, v) : ERROR;
}

EXPORT fmi3Status fmi3SetFloat64(void *c, const fmi3Ref r[], size_t n, const double v[], size_t m)
{
    CHECK(INSTANTIATED | LIVE, "fmi3SetFloat64");
    return same_count(i, n, m) ? set_values(i, r, n, v) : ERROR;
}

/* --- Saved states */

EXPORT fmi3Status fmi3GetFMUState(void *c, void **state)
{
    CHECK(ANY, "fmi3GetFMUState");
    return save(i, state);
}

EXPORT fmi3Status fmi3SetFMUState(void *c, void *state)
{
    CHECK(ANY, "fmi3SetFMUState");
    return restore(i, state);
}

EXPORT fmi3Status fmi3FreeFMUState(void *c, void **state)
{
    CHECK(ANY, "fmi3FreeFMUState");
    if (state) {
        free(*state);
        *state = NULL;
    }
    return OK;
}

EXPORT fmi3Status fmi3SerializedFMUStateSize(void *c, void *state, size_t *size)
{
    CHECK(ANY, "fmi3SerializedFMUStateSize");
    if (!state || !size) return report(i, ERROR, "there is no state");
    *size = serialized_bytes();
    return OK;
}

EXPORT fmi3Status fmi3SerializeFMUState(void *c, void *state, uint8_t bytes[], size_t n)
{
    CHECK(ANY, "fmi3SerializeFMUState");
    return serialize(i, state, bytes, n);
}

EXPORT fmi3Status fmi3DeserializeFMUState(void *c, const uint8_t bytes[], size_t n, void **state)
{
    CHECK(ANY, "fmi3DeserializeFMUState");
    return deserialize(i, bytes, n, state);
}

/* --- Derivatives, and model exchange */

EXPORT fmi3Status fmi3GetDirectionalDerivative(void *c, const fmi3Ref u[], size_t nu,
                                               const fmi3Ref k[], size_t nk, const double seed[],
                                               size_t n_seed, double out[], size_t n_out)
{
    CHECK(LIVE | TERMINATED, "fmi3GetDirectionalDerivative");
    if (!same_count(i, nk, n_seed) || !same_count(i, nu, n_out)) return ERROR;
    return directional_derivative(i, u, nu, k, nk, seed, out);
}

EXPORT fmi3Status fmi3EnterEventMode(void *c)
{
    CHECK(EXCHANGE, "fmi3EnterEventMode");
    i->mode = EVENT;
    return OK;
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(void *c, bool *again, bool *terminate, bool *nominals,
                                           bool *values, bool *has_next, double *next)
{
    CHECK(EVENT, "fmi3UpdateDiscreteStates");
    if (again) *again = false; /* a smooth system has no events */
    if (terminate) *terminate = false;
    if (nominals) *nominals = false;
    if (values) *values = false;
    if (has_next) *has_next = false;
    if (next) *next = 0.0;
    return OK;
}

EXPORT fmi3Status fmi3EnterContinuousTimeMode(void *c)
{
    CHECK(EVENT, "fmi3EnterContinuousTimeMode");
    i->mode = CONTINUOUS;
    return OK;
}

EXPORT fmi3Status fmi3CompletedIntegratorStep(void *c, bool no_return, bool *event, bool *terminate)
{
    CHECK(CONTINUOUS, "fmi3CompletedIntegratorStep");
    if (event) *event = false;
    if (terminate) *terminate = false;
    return OK;
}

EXPORT fmi3Status fmi3SetTime(void *c, double time)
{
    CHECK(EXCHANGE, "fmi3SetTime");
    return set_time(i, time);
}

EXPORT fmi3Status fmi3SetContinuousStates(void *c, const double x[], size_t n)
{
    CHECK(EXCHANGE, "fmi3SetContinuousStates");
    return set_states(i, x, n);
}

EXPORT fmi3Status fmi3GetContinuousStateDerivatives(void *c, double x[], size_t n)
{
    CHECK(INITIALISING | EXCHANGE | TERMINATED, "fmi3GetContinuousStateDerivatives");
    return get_rates(i, x, n);
}

EXPORT fmi3Status fmi3GetEventIndicators(void *c, double x[], size_t n)
{
    CHECK(INITIALISING | EXCHANGE | TERMINATED, "fmi3GetEventIndicators");
    return n ? report(i, ERROR, "there are no event indicators, not %zu", n) : OK;
}

EXPORT fmi3Status fmi3GetContinuousStates(void *c, double x[], size_t n)
{
    CHECK(INITIALISING | EXCHANGE | TERMINATED, "fmi3GetContinuousStates");
    return get_states(i, x, n);
}

EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(void *c, double x[], size_t n)
{
    CHECK(ANY, "fmi3GetNominalsOfContinuousStates");
    return get_nominals(i, x, n);
}

static int give_count(instance *i, size_t *place, size_t count)
{
    if (!place) return report(i, ERROR, "there is no place for a number");
    *place = count;
    return OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(void *c, size_t *n)
{
    CHECK(ANY, "fmi3GetNumberOfEventIndicators");
    return give_count(i, n, 0);
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(void *c, size_t *n)
{
    CHECK(ANY, "fmi3GetNumberOfContinuousStates");
    return give_count(i, n, DEVICE_STATES);
}

/* --- What the standard names and a device does not have */

#define NONE(name, ...)                                                                            \
    EXPORT fmi3Status fmi3##name(__VA_ARGS__)                                                      \
    {                                                                                              \
        CHECK(ANY, "fmi3" #name);                                                                  \
        return report(i, ERROR, "fmi3" #name " is not offered by this FMU");                       \
    }
#define OTHER(type, name)                                                                          \
    NONE(Get##name, void *c, const fmi3Ref r[], size_t n, type v[], size_t m)                      \
    NONE(Set##name, void *c, const fmi3Ref r[], size_t n, const type v[], size_t m)
#define ROW const fmi3Ref r[], size_t n

OTHER(float, Float32)
OTHER(int8_t, Int8)
OTHER(uint8_t, UInt8)
OTHER(int16_t, Int16)
OTHER(uint16_t, UInt16)
OTHER(int32_t, Int32)
OTHER(uint32_t, UInt32)
OTHER(int64_t, Int64)
OTHER(uint64_t, UInt64)
OTHER(bool, Boolean)
OTHER(fmi3String, String)
NONE(GetBinary, void *c, ROW, size_t sizes[], fmi3Binary v[], size_t m)
NONE(SetBinary, void *c, ROW, const size_t sizes[], const fmi3Binary v[], size_t m)
NONE(GetClock, void *c, ROW, bool v[])
NONE(SetClock, void *c, ROW, const bool v[])
NONE(GetNumberOfVariableDependencies, void *c, fmi3Ref r, size_t *n)
NONE(GetVariableDependencies, void *c, fmi3Ref r, size_t at[], fmi3Ref of[], size_t of_at[],
     int kinds[], size_t n)
NONE(GetAdjointDerivative, void *c, ROW, const fmi3Ref k[], size_t nk, const double seed[],
     size_t n_seed, double v[], size_t m)
NONE(GetOutputDerivatives, void *c, ROW, const int32_t orders[], double v[], size_t m)
NONE(EnterConfigurationMode, void *c)
NONE(ExitConfigurationMode, void *c)
NONE(EnterStepMode, void *c)
NONE(GetIntervalDecimal, void *c, ROW, double v[], int q[])
NONE(GetIntervalFraction, void *c, ROW, uint64_t a[], uint64_t b[], int q[])
NONE(GetShiftDecimal, void *c, ROW, double v[])
NONE(GetShiftFraction, void *c, ROW, uint64_t a[], uint64_t b[])
NONE(SetIntervalDecimal, void *c, ROW, const double v[])
NONE(SetIntervalFraction, void *c, ROW, const uint64_t a[], const uint64_t b[])
NONE(SetShiftDecimal, void *c, ROW, const double v[])
NONE(SetShiftFraction, void *c, ROW, const uint64_t a[], const uint64_t b[])
NONE(EvaluateDiscreteStates, void *c)
NONE(ActivateModelPartition, void *c, fmi3Ref clock, double t)
