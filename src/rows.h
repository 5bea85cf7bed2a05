/* rows.h: equal rows of the data stand for each other. */
#ifndef MC_ROWS_H
#define MC_ROWS_H

#include "fit.h"
#include "num.h"

/*
 * Numbers the distinct rows of data (same nonzeros and missing cells; values
 * are taken to be equal) in order of first appearance: group[i], 0-based.
 * Returns their number. Costs O(nonzeros + missing cells); O(n) scratch.
 */
int mc_group_rows(const mc_data *data, const mc_host *host, int *group);

#endif
