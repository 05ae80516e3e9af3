/* Base64 with the standard alphabet and its padding (RFC 4648, section 4). */
#ifndef EXAMPLE_BASE64_H
#define EXAMPLE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes into `out`, which has room for `cap` bytes; false where the text is no base64 or too long. */
bool base64_decode(const uint8_t *text, size_t len, uint8_t *out, size_t cap, size_t *out_len);

#endif
