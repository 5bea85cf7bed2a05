#include "engine/stream.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* The kinds of items, by R's numbers ("R Internals", Serialization Formats). */
enum {
  SYMBOL = 1,
  PAIRS = 2,
  CALL = 6,
  TEXT = 9,
  LOGICAL = 10,
  INTEGER = 13,
  REAL = 14,
  COMPLEX = 15,
  TEXTS = 16,
  LIST = 19,
  RAW = 24,
  S4 = 25,
  MISSING_ARGUMENT = 251,
  NOTHING = 254,
  REFERENCE = 255
};

enum { HAS_ATTRIBUTES = 1 << 9, HAS_TAG = 1 << 10, IS_S4 = 1 << 16, IS_ACTIVE = 1 << 27 };

#define DEEPEST 200 /* lists within lists; R itself reads them by recursion */

typedef struct {
  const unsigned char *at, *end;
  uint32_t symbols; /* read so far: what references may mean */
} stream;

static size_t bytes_left(const stream *s) { return (size_t) (s->end - s->at); }

static bool skip(stream *s, size_t count, size_t size) {
  if (count > bytes_left(s) / size) return false;
  s->at += count * size;
  return true;
}

static bool take_word(stream *s, uint32_t *word) {
  const unsigned char *at = s->at;
  if (!skip(s, 1, 4)) return false;
  *word = (uint32_t) at[0] << 24 | (uint32_t) at[1] << 16 | (uint32_t) at[2] << 8 | at[3];
  return true;
}

/* -1 comes before the two halves of a length beyond 2^31 - 1. */
static bool take_length(stream *s, size_t *length) {
  uint32_t low, high = 0;
  if (!take_word(s, &low)) return false;
  if (low == UINT32_MAX && (!take_word(s, &high) || !take_word(s, &low))) return false;
  *length = (size_t) high << 32 | low;
  return (high > 0 || low <= INT_MAX) && high <= INT_MAX && sizeof *length > 4;
}

static bool is_item(stream *s, int depth);
static bool are_attributes(stream *s, int depth);

/* A text has 32 bits of length; all bits set: it is unknown. */
static bool is_text(stream *s) {
  uint32_t flags, length;
  if (!take_word(s, &flags) || (flags & 0xff) != TEXT || (flags & HAS_ATTRIBUTES)) return false;
  return take_word(s, &length) && (length == UINT32_MAX || skip(s, length, 1));
}

static bool are_texts(stream *s, size_t length) {
  if (length > bytes_left(s) / 8) return false;
  for (size_t i = 0; i < length; i++)
    if (!is_text(s)) return false;
  return true;
}

/* Lists hold lists, no deeper than DEEPEST. NOLINTBEGIN(misc-no-recursion) */
static bool are_items(stream *s, size_t length, int depth) {
  if (length > bytes_left(s) / 4) return false;
  for (size_t i = 0; i < length; i++)
    if (!is_item(s, depth)) return false;
  return true;
}

static bool is_symbol(stream *s) {
  s->symbols++;
  return is_text(s);
}

/* The number of an earlier symbol is beside the kind or, if 0 is there, follows. */
static bool is_reference(stream *s, uint32_t flags) {
  uint32_t number = flags >> 8;
  if (number == 0 && !take_word(s, &number)) return false;
  return number >= 1 && number <= s->symbols;
}

static bool is_tag(stream *s) {
  uint32_t flags;
  if (!take_word(s, &flags)) return false;
  const uint32_t kind = flags & 0xff;
  return kind == SYMBOL ? is_symbol(s) : kind == REFERENCE && is_reference(s, flags);
}

/* A chain of pairs, whose first flags are read: the attributes of each, its tag and its value. */
static bool are_pairs(stream *s, uint32_t flags, int depth) {
  for (;;) {
    if (flags & IS_ACTIVE) return false;
    if ((flags & HAS_ATTRIBUTES) && !are_attributes(s, depth)) return false;
    if ((flags & HAS_TAG) && !is_tag(s)) return false;
    if (!is_item(s, depth) || !take_word(s, &flags)) return false;
    const uint32_t kind = flags & 0xff;
    if (kind == NOTHING) return true;
    if (kind != PAIRS) return false;
  }
}

static bool is_vector(stream *s, uint32_t kind, int depth) {
  size_t length;
  if (!take_length(s, &length)) return false;
  switch (kind) {
    case LOGICAL:
    case INTEGER: return skip(s, length, 4);
    case REAL: return skip(s, length, 8);
    case COMPLEX: return skip(s, length, 16);
    case RAW: return skip(s, length, 1);
    case TEXTS: return are_texts(s, length);
    case LIST: return are_items(s, length, depth);
    default: return false;
  }
}

static bool are_attributes(stream *s, int depth) {
  uint32_t flags;
  if (depth > DEEPEST || !take_word(s, &flags)) return false;
  return (flags & 0xff) == PAIRS && (flags & HAS_TAG) && are_pairs(s, flags, depth + 1);
}

static bool is_item(stream *s, int depth) {
  uint32_t flags;
  if (depth > DEEPEST || !take_word(s, &flags)) return false;
  switch (flags & 0xff) {
    case NOTHING:
    case MISSING_ARGUMENT: return true;
    case SYMBOL: return is_symbol(s);
    case REFERENCE: return is_reference(s, flags);
    case CALL: return are_pairs(s, flags, depth + 1);
    case S4: return (flags & HAS_ATTRIBUTES) && are_attributes(s, depth + 1);
    default:
      if ((flags & IS_S4) || !is_vector(s, flags & 0xff, depth + 1)) return false;
      return !(flags & HAS_ATTRIBUTES) || are_attributes(s, depth + 1);
  }
}
/* NOLINTEND(misc-no-recursion) */

/* Two versions of the format: the newer one also has the name of an encoding. */
static bool is_head(stream *s) {
  uint32_t version, writer, reader, length;
  const unsigned char *mark = s->at;
  if (!skip(s, 2, 1) || memcmp(mark, "X\n", 2) != 0) return false;
  if (!take_word(s, &version) || !take_word(s, &writer) || !take_word(s, &reader)) return false;
  if (version == 2) return true;
  return version == 3 && take_word(s, &length) && length <= 63 && skip(s, length, 1);
}

bool mc_is_plain(const unsigned char *bytes, size_t size) {
  stream s = {bytes, bytes + size, 0};
  return is_head(&s) && is_item(&s, 0) && s.at == s.end;
}
