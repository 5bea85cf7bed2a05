/* num/system.h: clock and memory size, which standard C lacks. */
#ifndef MC_NUM_SYSTEM_H
#define MC_NUM_SYSTEM_H

/* Seconds of a monotonic clock; only differences are meaningful. */
double num_seconds(void);

/* Bytes of physical memory; 0 if unknown. */
double num_memory(void);

#endif
