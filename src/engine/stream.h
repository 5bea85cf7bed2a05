/*
 * engine/stream.h: what bytes that R's serialize() may have written hold, before R makes anything of
 * them. Promises, active bindings of environments, objects of other packages and the like run code
 * when R opens or touches them, so a file from elsewhere must hold none.
 */
#ifndef MC_ENGINE_STREAM_H
#define MC_ENGINE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether all the bytes are one value of plain data in the format of big endians ("X\n"): vectors of
 * any kind, lists of these, nothing, and attributes that are such; calls and names, and objects made
 * of attributes alone, which are data as long as nobody evaluates them or calls a method of theirs.
 * All else, and what is cut off or claims to be longer than it is, is not. Costs O(items); vectors of
 * numbers are skipped.
 */
bool mc_is_plain(const unsigned char *bytes, size_t size);

#endif
