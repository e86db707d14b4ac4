/* 60 s of the device: prints time and all outputs ten times a second. */
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

int main(void)
{
    device_t *device = device_init(malloc(device_size()));
    if (!device) {
        fprintf(stderr, "this processor cannot run the device\n");
        return 1;
    }
    for (int k = 0; k < 600; k++) {
        double value;
@inputs@
        if (device_step(device, 0.1) != DEVICE_OK) {
            fprintf(stderr, "%s\n", device_message(device));
            return 1;
        }
        device_get(device, DEVICE_TIME, &value);
        printf("%.17g", value);
        for (int i = DEVICE_FIRST_OUTPUT; i < device_count(); i++) {
            device_get(device, i, &value);
            printf(" %.17g", value);
        }
        printf("\n");
    }
    free(device);
    return 0;
}
