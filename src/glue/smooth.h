/* glue/smooth.h: conversion of neighbours from R. */
#ifndef MC_GLUE_SMOOTH_H
#define MC_GLUE_SMOOTH_H

#include "engine/smooth.h"
#include "glue/glue.h"

/*
 * Reads list(strength, recording) with the neighbour lists of n rows, or with reference (k x n) and
 * common (k); returns NULL for R_NilValue. fixed as in ab_param.
 */
mc_smooth *glue_smooth(SEXP smooth, int n, int k, const int *fixed, int n_threads,
                       const mc_host *host);

#endif
