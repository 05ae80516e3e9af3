/* The native side of the rows that go by cgo: each function reads all that it is given, and returns how many bytes that was. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct { const char *data; size_t length; } native_text;

/* Ten fields. */
typedef struct {
  int64_t id, number, total, time;
  uint8_t is_new;
  native_text name, kind, place, note, sign;
} native_order;

uint64_t native_empty(void);
uint64_t native_text_length(const char *data, size_t length);
uint64_t native_zero_ended(const char *text);
uint64_t native_order_length(const native_order *order);
uint64_t native_texts_length(const native_text *texts, size_t count);
uint64_t native_strings_length(char **texts, size_t count);
/* Texts one after the other, each with its length in four bytes before it. */
uint64_t native_flat_length(const char *flat, size_t length);
