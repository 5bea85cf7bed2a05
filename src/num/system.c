/* num/system.c: clock and memory size, from POSIX or Windows. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-*,readability-identifier-naming) */
#ifdef __APPLE__
#define _DARWIN_C_SOURCE 1 /* _SC_PHYS_PAGES */
#elif !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L /* clock_gettime() */
#endif
/* NOLINTEND(bugprone-reserved-identifier,cert-*,readability-identifier-naming) */

#include "num/system.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

double num_seconds(void) {
  LARGE_INTEGER ticks, per_second;
  QueryPerformanceCounter(&ticks); /* neither fails since Windows XP */
  QueryPerformanceFrequency(&per_second);
  return (double) ticks.QuadPart / (double) per_second.QuadPart;
}

double num_memory(void) {
  MEMORYSTATUSEX status = {.dwLength = sizeof status};
  return GlobalMemoryStatusEx(&status) ? (double) status.ullTotalPhys : 0;
}
#else
#include <time.h>
#include <unistd.h>

double num_seconds(void) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

double num_memory(void) {
#ifdef _SC_PHYS_PAGES
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0) return (double) pages * (double) bytes;
#endif
  return 0;
}
#endif
