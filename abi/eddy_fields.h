/*
 * eddy_fields.h: reads fields of protobuf messages in place, based on eddy_filter.h.
 *
 * The configuration of a filter lists the fields that it reads under `fields`, each with a key and a path. Before the
 * filter is called with a whole body (after EDDY_BUFFER), the host stores the positions of the values as metadata.
 * These functions do not decode, copy or allocate; they return views of the call, valid until `run` returns.
 */
#ifndef EDDY_FIELDS_H
#define EDDY_FIELDS_H

#include <string.h>

#include "eddy_filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Position of a value in a body: `len` bytes from `offset` on. `len` is 0 for numbers, booleans and enums; use
 * `eddy_field_json` for their values. */
typedef struct eddy_place {
  uint64_t offset;
  uint64_t len;
} eddy_place;

/* Returns the metadata of a key with a suffix; empty if there is none. */
static inline eddy_text eddy_field_noted(const eddy_call *call, eddy_text key, const char *suffix) {
  static const char space[] = "message_fields";
  const size_t behind = strlen(suffix);
  for (uint64_t i = 0; call->about != NULL && i < call->about->metadata_len; i++) {
    const eddy_pair *pair = &call->about->metadata[i];
    if (pair->space.len == sizeof space - 1 && memcmp(pair->space.data, space, sizeof space - 1) == 0 &&
        pair->key.len == key.len + behind && memcmp(pair->key.data, key.data, key.len) == 0 &&
        memcmp(pair->key.data + key.len, suffix, behind) == 0) {
      return pair->value;
    }
  }
  const eddy_text nothing = {NULL, 0};
  return nothing;
}

/* Removes a number from the front of a text; returns 0 if there is none, or if it is too large for any body. */
static inline int eddy_field_number(eddy_text *text, uint64_t *number) {
  size_t len = 0;
  *number = 0;
  while (len < text->len && text->data[len] >= '0' && text->data[len] <= '9') {
    if (*number > UINT64_MAX / 16) {
      return 0;
    }
    *number = *number * 10 + (uint64_t)(text->data[len++] - '0');
  }
  text->data += len;
  text->len -= len;
  return len > 0;
}

/* Returns the next position of a list, which `*rest` from `eddy_field_places` starts; 0 after the last one. */
static inline int eddy_field_next(eddy_text *rest, eddy_place *place) {
  while (rest->len > 0 && (*rest->data < '0' || *rest->data > '9')) {
    rest->data++;
    rest->len--;
  }
  if (rest->len == 0 || !eddy_field_number(rest, &place->offset) || rest->len == 0 || *rest->data != ',') {
    return 0;
  }
  rest->data++;
  rest->len--;
  return eddy_field_number(rest, &place->len);
}

/* Returns the positions of the values of a field, for iteration with `eddy_field_next`. */
static inline eddy_text eddy_field_places(const eddy_call *call, eddy_text key) {
  return eddy_field_noted(call, key, "_at");
}

/* Returns the value of a field as JSON: a number, boolean or string, or a list if it is repeated; empty if it is
 * absent. Long strings are truncated, and bytes are in Base64; `eddy_field_bytes` returns them unchanged. */
static inline eddy_text eddy_field_json(const eddy_call *call, eddy_text key) {
  return eddy_field_noted(call, key, "");
}

/* Reads the bytes of a string or bytes field in `call->body`: its last value, which is the one in force. Returns 1 if
 * it exists; 0 if it is absent or of another type, if the body is not complete, or if the body was replaced since. */
static inline int eddy_field_bytes(const eddy_call *call, eddy_text key, eddy_text *value) {
  eddy_text rest = eddy_field_places(call, key);
  eddy_place place;
  int found = 0;
  value->data = NULL;
  value->len = 0;
  if ((call->flags & EDDY_CALL_BUFFERED) == 0) {
    return 0;
  }
  while (eddy_field_next(&rest, &place)) {
    found = place.len > 0 && place.offset <= call->body.len && place.len <= call->body.len - place.offset;
    value->data = found ? call->body.data + place.offset : NULL;
    value->len = found ? (size_t)place.len : 0;
  }
  return found;
}

#ifdef __cplusplus
}
#endif

#endif /* EDDY_FIELDS_H */
