/* Base64 with the standard alphabet and its padding. */
#include "base64.h"

static int value_of(uint8_t byte) {
  if (byte >= 'A' && byte <= 'Z') return byte - 'A';
  if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
  if (byte >= '0' && byte <= '9') return byte - '0' + 52;
  if (byte == '+') return 62;
  if (byte == '/') return 63;
  return -1;
}

bool base64_decode(const uint8_t *text, size_t len, uint8_t *out, size_t cap, size_t *out_len) {
  *out_len = 0;
  if (len % 4 != 0) return false;
  for (size_t at = 0; at < len; at += 4) {
    size_t padding = 0;
    while (padding < 3 && text[at + 3 - padding] == '=') padding++;
    if (padding > 2 || (padding > 0 && at + 4 != len)) return false;
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
      const int value = i < 4 - padding ? value_of(text[at + i]) : 0;
      if (value < 0) return false;
      bits = bits << 6 | (uint32_t)value;
    }
    for (size_t i = 0; i < 3; i++) {
      const uint8_t byte = (uint8_t)(bits >> (16 - 8 * i));
      if (i < 3 - padding) {
        if (*out_len == cap) return false;
        out[(*out_len)++] = byte;
      } else if (byte != 0) {
        return false; /* bits that no byte needs: else many texts would mean the same */
      }
    }
  }
  return true;
}
