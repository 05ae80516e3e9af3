#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { const uint8_t *data; size_t length; } passing_text;
typedef struct { const passing_text *texts; size_t count; } passing_headers;

uintptr_t passing_sum(const uint8_t *data, size_t length);
uintptr_t passing_sum_escaping(const uint8_t *data, size_t length);
uintptr_t passing_sum_terminated(const char *text);

const uint8_t *passing_name(uint32_t number, size_t *length);
const char *passing_motto(void);

size_t passing_hex(uint64_t number, uint8_t *data, size_t size);
char *passing_hex_malloc(uint64_t number);
uintptr_t passing_letters(uint8_t *data, size_t size);

uintptr_t passing_sum_flat(const uint8_t *data, size_t length);
uintptr_t passing_sum_texts(const passing_text *texts, size_t count);
uintptr_t passing_sum_headers(const passing_headers *headers);
const uint8_t *passing_packed(size_t *length);

uintptr_t passing_first(const void *data);
uintptr_t passing_sum_array(const uint8_t *data);
