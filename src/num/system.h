/* num/system.h: what C does not know of the machine. */
#ifndef MC_NUM_SYSTEM_H
#define MC_NUM_SYSTEM_H

/* Seconds of a clock that is never set: differences count. */
double num_seconds(void);

/* Bytes of memory the machine has; 0 where that cannot be known. */
double num_memory(void);

#endif
