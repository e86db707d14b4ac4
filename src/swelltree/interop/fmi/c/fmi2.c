/* FMI 2.0 of one device, for co-simulation and model exchange. The interface: fmi-standard.org, version 2.0.4. */
#include "fmu.h"

typedef int fmi2Status, fmi2Boolean, fmi2Integer, fmi2Kind;
typedef double fmi2Real;
typedef unsigned int fmi2Ref;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef void (*fmi2Logger)(void *, fmi2String, fmi2Status, fmi2String, fmi2String, ...);

typedef struct {
    fmi2Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, fmi2Status);
    void *environment;
} fmi2Callbacks;

/* The message is the format: hosts that do not know printf show it as it is. */
static void write_log(const instance *i, int status, const char *message)
{
    const fmi2Callbacks *host = i->host;
    char format[1024], *end = format;
    if (!host || !host->logger) return;
    for (; *message && end < format + sizeof format - 2; message++) {
        if (*message == '%') *end++ = '%';
        *end++ = *message;
    }
    *end = 0;
    host->logger(host->environment, i->name, status,
                 status == DISCARD ? "logStatusDiscard" : "logStatusError", format);
}

#define CHECK(modes, name)                                                                         \
    instance *i = c;                                                                               \
    if (!allowed(i, modes, name)) return ERROR

EXPORT fmi2String fmi2GetTypesPlatform(void) { return "default"; }
EXPORT fmi2String fmi2GetVersion(void) { return "2.0"; }

EXPORT fmi2Status fmi2SetDebugLogging(void *c, fmi2Boolean on, size_t n, const fmi2String names[])
{
    CHECK(ANY, "fmi2SetDebugLogging");
    (void)on, (void)n, (void)names; /* only failures are logged, always */
    return OK;
}

EXPORT void *fmi2Instantiate(fmi2String name, int type, fmi2String guid, fmi2String resources,
                             const fmi2Callbacks *callbacks, fmi2Boolean visible, fmi2Boolean on)
{
    (void)resources, (void)visible, (void)on;
    if (type != 0 && type != 1) return NULL; /* model exchange, co-simulation */
    return instantiate(name, guid, type == 0, (void *)callbacks, NULL);
}

EXPORT void fmi2FreeInstance(void *c) { release(c); }

EXPORT fmi2Status fmi2SetupExperiment(void *c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                      fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    CHECK(INSTANTIATED, "fmi2SetupExperiment");
    (void)has_tolerance, (void)tolerance; /* that of the export */
    return begin(i, start, has_stop, stop);
}

EXPORT fmi2Status fmi2EnterInitializationMode(void *c)
{
    CHECK(INSTANTIATED, "fmi2EnterInitializationMode");
    i->mode = INITIALISING;
    return OK;
}

EXPORT fmi2Status fmi2ExitInitializationMode(void *c)
{
    CHECK(INITIALISING, "fmi2ExitInitializationMode");
    i->mode = i->exchange ? EVENT : STEPPING;
    return OK;
}

EXPORT fmi2Status fmi2Terminate(void *c)
{
    CHECK(RUNNING, "fmi2Terminate");
    i->mode = TERMINATED;
    return OK;
}

EXPORT fmi2Status fmi2Reset(void *c)
{
    CHECK(ANY, "fmi2Reset");
    return reset(i);
}

EXPORT fmi2Status fmi2DoStep(void *c, fmi2Real from, fmi2Real duration, fmi2Boolean no_return)
{
    CHECK(STEPPING, "fmi2DoStep");
    (void)no_return;
    return step(i, from, duration);
}

EXPORT fmi2Status fmi2GetReal(void *c, const fmi2Ref refs[], size_t n, fmi2Real values[])
{
    CHECK(LIVE | TERMINATED, "fmi2GetReal");
    return get_values(i, refs, n, values);
}

EXPORT fmi2Status fmi2SetReal(void *c, const fmi2Ref refs[], size_t n, const fmi2Real values[])
{
    CHECK(INSTANTIATED | LIVE, "fmi2SetReal");
    return set_values(i, refs, n, values);
}

/* All variables are real numbers. */
#define OTHER(type, name)                                                                          \
    EXPORT fmi2Status fmi2Get##name(void *c, const fmi2Ref r[], size_t n, type v[])                \
    {                                                                                              \
        CHECK(ANY, "fmi2Get" #name);                                                               \
        (void)r, (void)v;                                                                          \
        return n ? report(i, ERROR, "there is no variable of type " #name) : OK;                   \
    }                                                                                              \
    EXPORT fmi2Status fmi2Set##name(void *c, const fmi2Ref r[], size_t n, const type v[])          \
    {                                                                                              \
        CHECK(ANY, "fmi2Set" #name);                                                               \
        (void)r, (void)v;                                                                          \
        return n ? report(i, ERROR, "there is no variable of type " #name) : OK;                   \
    }
OTHER(fmi2Integer, Integer)
OTHER(fmi2Boolean, Boolean)
OTHER(fmi2String, String)

/* --- Saved states */

EXPORT fmi2Status fmi2GetFMUstate(void *c, void **state)
{
    CHECK(ANY, "fmi2GetFMUstate");
    return save(i, state);
}

EXPORT fmi2Status fmi2SetFMUstate(void *c, void *state)
{
    CHECK(ANY, "fmi2SetFMUstate");
    return restore(i, state);
}

EXPORT fmi2Status fmi2FreeFMUstate(void *c, void **state)
{
    CHECK(ANY, "fmi2FreeFMUstate");
    if (state) {
        free(*state);
        *state = NULL;
    }
    return OK;
}

EXPORT fmi2Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size)
{
    CHECK(ANY, "fmi2SerializedFMUstateSize");
    if (!state || !size) return report(i, ERROR, "there is no state");
    *size = serialized_bytes();
    return OK;
}

EXPORT fmi2Status fmi2SerializeFMUstate(void *c, void *state, fmi2Byte bytes[], size_t n)
{
    CHECK(ANY, "fmi2SerializeFMUstate");
    return serialize(i, state, (unsigned char *)bytes, n);
}

EXPORT fmi2Status fmi2DeSerializeFMUstate(void *c, const fmi2Byte bytes[], size_t n, void **state)
{
    CHECK(ANY, "fmi2DeSerializeFMUstate");
    return deserialize(i, (const unsigned char *)bytes, n, state);
}

/* --- Derivatives, and model exchange */

EXPORT fmi2Status fmi2GetDirectionalDerivative(void *c, const fmi2Ref u[], size_t nu,
                                               const fmi2Ref k[], size_t nk, const fmi2Real dk[],
                                               fmi2Real du[])
{
    CHECK(LIVE | TERMINATED, "fmi2GetDirectionalDerivative");
    return directional_derivative(i, u, nu, k, nk, dk, du);
}

typedef struct {
    fmi2Boolean again, terminate, nominals, values, has_next;
    fmi2Real next;
} fmi2Event;

EXPORT fmi2Status fmi2EnterEventMode(void *c)
{
    CHECK(EXCHANGE, "fmi2EnterEventMode");
    i->mode = EVENT;
    return OK;
}

EXPORT fmi2Status fmi2NewDiscreteStates(void *c, fmi2Event *event)
{
    CHECK(EVENT, "fmi2NewDiscreteStates");
    if (!event) return report(i, ERROR, "there is no place for the event");
    memset(event, 0, sizeof *event); /* a smooth system has no events */
    return OK;
}

EXPORT fmi2Status fmi2EnterContinuousTimeMode(void *c)
{
    CHECK(EVENT, "fmi2EnterContinuousTimeMode");
    i->mode = CONTINUOUS;
    return OK;
}

EXPORT fmi2Status fmi2CompletedIntegratorStep(void *c, fmi2Boolean no_return, fmi2Boolean *event,
                                              fmi2Boolean *terminate)
{
    CHECK(CONTINUOUS, "fmi2CompletedIntegratorStep");
    (void)no_return;
    if (event) *event = 0;
    if (terminate) *terminate = 0;
    return OK;
}

EXPORT fmi2Status fmi2SetTime(void *c, fmi2Real time)
{
    CHECK(EXCHANGE, "fmi2SetTime");
    return set_time(i, time);
}

EXPORT fmi2Status fmi2SetContinuousStates(void *c, const fmi2Real x[], size_t n)
{
    CHECK(EXCHANGE, "fmi2SetContinuousStates");
    return set_states(i, x, n);
}

EXPORT fmi2Status fmi2GetDerivatives(void *c, fmi2Real x[], size_t n)
{
    CHECK(INITIALISING | EXCHANGE | TERMINATED, "fmi2GetDerivatives");
    return get_rates(i, x, n);
}

EXPORT fmi2Status fmi2GetEventIndicators(void *c, fmi2Real x[], size_t n)
{
    CHECK(INITIALISING | EXCHANGE | TERMINATED, "fmi2GetEventIndicators");
    (void)x;
    return n ? report(i, ERROR, "there are no event indicators, not %zu", n) : OK;
}

EXPORT fmi2Status fmi2GetContinuousStates(void *c, fmi2Real x[], size_t n)
{
    CHECK(INITIALISING | EXCHANGE | TERMINATED, "fmi2GetContinuousStates");
    return get_states(i, x, n);
}

EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(void *c, fmi2Real x[], size_t n)
{
    CHECK(ANY, "fmi2GetNominalsOfContinuousStates");
    return get_nominals(i, x, n);
}

/* --- What a device does not offer, and how its last step went */

EXPORT fmi2Status fmi2SetRealInputDerivatives(void *c, const fmi2Ref r[], size_t n,
                                              const fmi2Integer order[], const fmi2Real v[])
{
    CHECK(ANY, "fmi2SetRealInputDerivatives");
    (void)r, (void)order, (void)v;
    return n ? report(i, ERROR, "inputs are held over a step, without derivatives") : OK;
}

EXPORT fmi2Status fmi2GetRealOutputDerivatives(void *c, const fmi2Ref r[], size_t n,
                                               const fmi2Integer order[], fmi2Real v[])
{
    CHECK(ANY, "fmi2GetRealOutputDerivatives");
    (void)r, (void)order, (void)v;
    return n ? report(i, ERROR, "outputs come without derivatives") : OK;
}

EXPORT fmi2Status fmi2CancelStep(void *c)
{
    CHECK(ANY, "fmi2CancelStep");
    return report(i, ERROR, "fmi2DoStep is never pending");
}

EXPORT fmi2Status fmi2GetStatus(void *c, fmi2Kind kind, fmi2Status *value)
{
    CHECK(ANY, "fmi2GetStatus");
    (void)kind, (void)value;
    return report(i, DISCARD, "fmi2DoStep is never pending");
}

EXPORT fmi2Status fmi2GetRealStatus(void *c, fmi2Kind kind, fmi2Real *value)
{
    CHECK(ANY, "fmi2GetRealStatus");
    if (kind != 2 || !value) return report(i, DISCARD, "status %d is not a number", kind);
    *value = time_of(i); /* the last time that was reached */
    return OK;
}

EXPORT fmi2Status fmi2GetBooleanStatus(void *c, fmi2Kind kind, fmi2Boolean *value)
{
    CHECK(ANY, "fmi2GetBooleanStatus");
    if (kind != 3 || !value) return report(i, DISCARD, "status %d is not a truth", kind);
    *value = 0; /* the device never asks for an end */
    return OK;
}

EXPORT fmi2Status fmi2GetIntegerStatus(void *c, fmi2Kind kind, fmi2Integer *value)
{
    CHECK(ANY, "fmi2GetIntegerStatus");
    (void)value;
    return report(i, DISCARD, "status %d is not a whole number", kind);
}

EXPORT fmi2Status fmi2GetStringStatus(void *c, fmi2Kind kind, fmi2String *value)
{
    CHECK(ANY, "fmi2GetStringStatus");
    (void)kind, (void)value;
    return report(i, DISCARD, "fmi2DoStep is never pending");
}
