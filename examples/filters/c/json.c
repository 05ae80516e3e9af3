/* Reads an object of texts. */
#include "json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reader {
  const uint8_t *at;
  const uint8_t *end;
};

struct buffer {
  uint8_t *bytes;
  size_t len;
};

static const char not_texts[] = "the configuration is an object whose values are texts";
static const char bad_text[] = "the configuration has a text that is no JSON";
static const char no_memory[] = "there is no memory for the configuration";

static int peek(const struct reader *in) { return in->at < in->end ? *in->at : -1; }

static void skip_space(struct reader *in) {
  while (peek(in) == ' ' || peek(in) == '\t' || peek(in) == '\n' || peek(in) == '\r') {
    in->at++;
  }
}

/* Whether the next thing is this byte, which is passed then. */
static bool take(struct reader *in, int byte) {
  skip_space(in);
  if (peek(in) != byte) {
    return false;
  }
  in->at++;
  return true;
}

static int hex_value(int byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

/* Four hexadecimal digits; -1 if there are none. */
static int32_t read_hex(struct reader *in) {
  int32_t value = 0;
  for (int i = 0; i < 4; i++) {
    const int digit = hex_value(peek(in));
    if (digit < 0) return -1;
    value = value * 16 + digit;
    in->at++;
  }
  return value;
}

static void put(struct buffer *out, uint32_t byte) { out->bytes[out->len++] = (uint8_t)byte; }

static void put_utf8(struct buffer *out, uint32_t point) {
  if (point < 0x80) {
    put(out, point);
  } else if (point < 0x800) {
    put(out, 0xc0 | point >> 6);
    put(out, 0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(out, 0xe0 | point >> 12);
    put(out, 0x80 | (point >> 6 & 0x3f));
    put(out, 0x80 | (point & 0x3f));
  } else {
    put(out, 0xf0 | point >> 18);
    put(out, 0x80 | (point >> 12 & 0x3f));
    put(out, 0x80 | (point >> 6 & 0x3f));
    put(out, 0x80 | (point & 0x3f));
  }
}

/* What follows `\u`, and the second half where it is the first of a pair. */
static bool read_point(struct reader *in, struct buffer *out) {
  const int32_t first = read_hex(in);
  if (first < 0 || (first >= 0xdc00 && first < 0xe000)) return false;
  if (first < 0xd800 || first >= 0xe000) {
    put_utf8(out, (uint32_t)first);
    return true;
  }
  if (in->end - in->at < 6 || in->at[0] != '\\' || in->at[1] != 'u') return false;
  in->at += 2;
  const int32_t second = read_hex(in);
  if (second < 0xdc00 || second >= 0xe000) return false;
  put_utf8(out, 0x10000 + (((uint32_t)first - 0xd800) << 10) + ((uint32_t)second - 0xdc00));
  return true;
}

static bool read_escape(struct reader *in, struct buffer *out) {
  static const char from[] = "\"\\/bfnrt";
  static const char to[] = "\"\\/\b\f\n\r\t";
  const int byte = peek(in);
  if (byte < 0) return false;
  in->at++;
  if (byte == 'u') return read_point(in, out);
  const char *found = byte == 0 ? NULL : strchr(from, byte);
  if (found == NULL) return false;
  put(out, (uint8_t)to[found - from]);
  return true;
}

/* A text, into room for all that is left: an escape is never shorter than what it stands for. */
static bool read_text(struct reader *in, struct buffer *out) {
  if (!take(in, '"')) return false;
  while (peek(in) >= 0x20) {
    const int byte = *in->at++;
    if (byte == '"') return true;
    if (byte == '\\') {
      if (!read_escape(in, out)) return false;
    } else {
      put(out, (uint8_t)byte);
    }
  }
  return false;
}

static const char *read_member(struct reader *in, uint8_t *room, json_member_fn *member, void *to) {
  struct buffer key = {room, 0};
  if (!read_text(in, &key) || !take(in, ':')) return not_texts;
  struct buffer value = {room + key.len, 0};
  skip_space(in);
  if (peek(in) != '"') return not_texts;
  if (!read_text(in, &value)) return bad_text;
  return member(to, (eddy_text){key.bytes, key.len}, (eddy_text){value.bytes, value.len});
}

static const char *read_object(struct reader *in, uint8_t *room, json_member_fn *member, void *to) {
  if (!take(in, '{')) return not_texts;
  if (take(in, '}')) return NULL;
  do {
    const char *wrong = read_member(in, room, member, to);
    if (wrong != NULL) return wrong;
  } while (take(in, ','));
  return take(in, '}') ? NULL : not_texts;
}

const char *json_read_texts(eddy_text json, json_member_fn *member, void *to) {
  if (json.len == 0 || (json.len == 4 && memcmp(json.data, "null", 4) == 0)) return NULL;
  uint8_t *room = malloc(json.len);
  if (room == NULL) return no_memory;
  struct reader in = {json.data, json.data + json.len};
  const char *wrong = read_object(&in, room, member, to);
  free(room);
  skip_space(&in);
  return wrong == NULL && in.at != in.end ? not_texts : wrong;
}
