/* A device of swelltree in its sea, stepped by native code.
 *
 * Everything is SI. A device is one piece of memory of device_size() bytes, given by the caller;
 * no function allocates memory. Different devices can be stepped by different threads.
 * Functions return DEVICE_OK or why they did nothing; device_message() says it in words.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

@variables@

enum {
    DEVICE_OK = 0,
    DEVICE_REFUSED = 1, /* an argument is wrong; nothing has changed */
    DEVICE_STOPPED = 2  /* a step failed; the state is that of device_get(.., DEVICE_TIME, ..) */
};

typedef struct device_state device_t;

size_t device_size(void);

/* A device at its start in memory of device_size() bytes, aligned as malloc does; NULL where this
 * processor cannot run it. Also sets one back to its start. */
device_t *device_init(void *memory);

int device_set(device_t *device, int variable, double value); /* an input or a parameter */
int device_get(device_t *device, int variable, double *value);
int device_step(device_t *device, double duration); /* [s], of any length */
int device_step_to(device_t *device, double time);  /* the same, without rounding of sums */

/* The equations of motion, where they were exported (model_exchange=True); else device_states() is 0
 * and the other functions refuse. From states that are set, steps go on, too. */
int device_states(void);
void device_get_states(const device_t *device, double *states);
int device_set_states(device_t *device, double time, const double *states);
int device_rates(device_t *device, double *rates); /* of the states [1/s] */
/* Change of outputs and rates, by variable, for a change of states, inputs and parameters. */
int device_derivative(device_t *device, const double *seed, double *change);

/* All of a device as device_saved() numbers; from there every step is the same, bit for bit. */
size_t device_saved(void);
void device_save(const device_t *device, double *saved);
int device_restore(device_t *device, const double *saved);

int device_count(void); /* of variables */
const char *device_name(int variable);
const char *device_unit(int variable);
const char *device_message(const device_t *device);

#ifdef __cplusplus
}
#endif
#endif
