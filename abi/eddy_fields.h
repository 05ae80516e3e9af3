/*
 * eddy_fields.h: fields of protobuf messages, read where they stand in a body; on top of eddy_filter.h.
 *
 * The configuration of a filter says under `fields` which it reads, each by a key and a path. Before the filter is
 * entered with a whole body (after EDDY_BUFFER), the host has noted in the metadata where the values stand. Nothing is
 * decoded, copied or allocated here; what is given out is a view of the call, valid until `run` returns.
 */
#ifndef EDDY_FIELDS_H
#define EDDY_FIELDS_H

#include <string.h>

#include "eddy_filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a value stands in a body: `len` bytes from `offset` on. `len` is 0 of a number, a truth and an enum, whose value
 * `eddy_field_json` has. */
typedef struct eddy_place {
  uint64_t offset;
  uint64_t len;
} eddy_place;

/* What is noted for a key and what stands behind it; empty where nothing is. */
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

/* Takes a number from the front of a text; 0 where there is none, or one too large for any body. */
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

/* The next place of a list. Begin with `*rest` as `eddy_field_places` gives it; 0 behind the last. */
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

/* Where the values of a field stand, to be walked over by `eddy_field_next`. */
static inline eddy_text eddy_field_places(const eddy_call *call, eddy_text key) {
  return eddy_field_noted(call, key, "_at");
}

/* The values of a field as JSON: a number, a truth, a text, or a list where there can be several; empty if it is absent.
 * Long texts are cut there, and bytes are Base64: `eddy_field_bytes` has them as they are. */
static inline eddy_text eddy_field_json(const eddy_call *call, eddy_text key) {
  return eddy_field_noted(call, key, "");
}

/* The bytes of a text in `call->body`: its last value, which is the one that counts. 1 if it is there; 0 if it is
 * absent or no text, if the body is not the whole of it, or if it is another than the message was found in. */
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
