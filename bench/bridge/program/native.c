#include "native.h"

#include <string.h>

uint64_t native_empty(void) { return 0; }

uint64_t native_text_length(const char *data, size_t length) { return data[0] + length; }

uint64_t native_zero_ended(const char *text) { return text[0] + strlen(text); }

uint64_t native_order_length(const native_order *order) {
  const native_text *texts[] = {&order->name, &order->kind, &order->place, &order->note, &order->sign};
  uint64_t sum = (uint64_t)(order->id + order->number + order->total + order->time + order->is_new);
  for (size_t index = 0; index < 5; index++) {
    sum += native_text_length(texts[index]->data, texts[index]->length);
  }
  return sum;
}

uint64_t native_texts_length(const native_text *texts, size_t count) {
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    sum += native_text_length(texts[index].data, texts[index].length);
  }
  return sum;
}

uint64_t native_strings_length(char **texts, size_t count) {
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    sum += native_zero_ended(texts[index]);
  }
  return sum;
}

uint64_t native_flat_length(const char *flat, size_t length) {
  uint64_t sum = 0;
  for (size_t at = 0; at + 4 <= length;) {
    uint32_t size;
    memcpy(&size, flat + at, 4);
    sum += native_text_length(flat + at + 4, size);
    at += 4 + size;
  }
  return sum;
}
