#include "passing.h"

#include <string.h>

/* Returns the sum of the first byte, the last byte and the length: cheap, so that the benchmarks measure the call. */
uintptr_t passing_sum(const uint8_t *data, size_t length) { return length ? data[0] + data[length - 1] + length : 0; }

uintptr_t passing_sum_escaping(const uint8_t *data, size_t length) { return passing_sum(data, length); }

uintptr_t passing_sum_terminated(const char *text) { return passing_sum((const uint8_t *)text, strlen(text)); }

static const char *const names[] = {"host", "user-agent", "accept", "authorization"};

const uint8_t *passing_name(uint32_t number, size_t *length) {
  if (number >= sizeof names / sizeof *names) {
    *length = 0;
    return NULL;
  }
  *length = strlen(names[number]);
  return (const uint8_t *)names[number];
}

const char *passing_motto(void) { return "down once, up once"; }

size_t passing_hex(uint64_t number, uint8_t *data, size_t size) {
  if (size < 16) return 0;
  for (int i = 15; i >= 0; i--, number >>= 4) data[i] = (uint8_t)"0123456789abcdef"[number & 15];
  return 16;
}

char *passing_hex_malloc(uint64_t number) {
  char *text = malloc(17);
  if (!text) abort();
  text[passing_hex(number, (uint8_t *)text, 16)] = 0;
  return text;
}

uintptr_t passing_letters(uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; i++) data[i] = (uint8_t)('a' + i % 26);
  return size;
}

uintptr_t passing_sum_flat(const uint8_t *data, size_t length) {
  uintptr_t sum = 0;
  for (const uint8_t *at = data, *end = data + length; at < end;) {
    uint32_t size = *(const uint32_t *)at;
    sum += passing_sum(at + 4, size);
    at += 4 + ((size + 3) & ~3u);
  }
  return sum;
}

uintptr_t passing_sum_texts(const passing_text *texts, size_t count) {
  uintptr_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += passing_sum(texts[i].data, texts[i].length);
  return sum;
}

uintptr_t passing_sum_headers(const passing_headers *headers) {
  return passing_sum_texts(headers->texts, headers->count);
}

const uint8_t *passing_packed(size_t *length) {
  static const struct { uint32_t size; char text[4]; } packed[] = {{2, "go"}, {4, "rust"}, {0, ""}};
  *length = 8 + 8 + 4;
  return (const uint8_t *)packed;
}

uintptr_t passing_first(const void *data) { return *(const uint8_t *)data; }

uintptr_t passing_sum_array(const uint8_t *data) { return data[0]; }
