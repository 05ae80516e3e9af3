/* Puts one text in the place of another in responses that are text. Its configuration is the text `FIND=REPLACE`. */
#include "proxy_wasm.h"

enum { CONFIG_MAX = 1024 };

static char config[CONFIG_MAX];
static struct text wanted, replacement;

EXPORT("proxy_on_configure") bool proxy_on_configure(uint32_t plugin, size_t size) {
  (void)plugin;
  release();
  const struct text given = bytes_of(PLUGIN_CONFIGURATION, size);
  const size_t sign = find(given, 0, TEXT("="));
  if (sign == 0 || sign == given.len || given.len > CONFIG_MAX) {
    return refuse(TEXT("config: what is looked for, = and what takes its place, at most 1024 bytes"));
  }
  (void)put(config, given);
  wanted = (struct text){config, sign};
  replacement = (struct text){config + sign + 1, given.len - sign - 1};
  return true;
}

static bool is_text(void) {
  const struct text kind = field(RESPONSE_HEADERS, TEXT("content-type")), prefix = TEXT("text/");
  return kind.len >= prefix.len && is_equal((struct text){kind.data, prefix.len}, prefix);
}

EXPORT("proxy_on_request_headers") int32_t proxy_on_request_headers(uint32_t stream, uint32_t count, uint32_t is_end) {
  (void)stream, (void)count, (void)is_end;
  release();
  /* A compressed body shows no text. */
  const struct text name = TEXT("accept-encoding");
  (void)proxy_remove_header_map_value(REQUEST_HEADERS, name.data, name.len);
  return CONTINUE;
}

EXPORT("proxy_on_response_headers") int32_t proxy_on_response_headers(uint32_t stream, uint32_t count, uint32_t is_end) {
  (void)stream, (void)count, (void)is_end;
  release();
  if (is_text()) {
    /* The body may get another length. */
    const struct text name = TEXT("content-length");
    (void)proxy_remove_header_map_value(RESPONSE_HEADERS, name.data, name.len);
  }
  return CONTINUE;
}

/* How often the text is found. */
static size_t count_in(struct text body) {
  size_t count = 0;
  for (size_t at = find(body, 0, wanted); at < body.len; at = find(body, at + wanted.len, wanted)) {
    count++;
  }
  return count;
}

/* The body with what is put into it; as it was where there is no memory for that. */
static struct text rewritten(struct text body, size_t count) {
  char *const to = room(body.len - count * wanted.len + count * replacement.len);
  if (to == NULL) {
    return body;
  }
  char *end = to;
  size_t from = 0;
  for (size_t at = find(body, 0, wanted); at < body.len; at = find(body, from, wanted)) {
    end = put(put(end, (struct text){body.data + from, at - from}), replacement);
    from = at + wanted.len;
  }
  end = put(end, (struct text){body.data + from, body.len - from});
  return (struct text){to, (size_t)(end - to)};
}

EXPORT("proxy_on_response_body") int32_t proxy_on_response_body(uint32_t stream, size_t size, uint32_t is_end) {
  (void)stream;
  release();
  if (!is_text()) {
    return CONTINUE;
  }
  if (!is_end) {
    /* The text may lie across two pieces: wait for the whole. */
    return PAUSE;
  }
  const struct text body = bytes_of(RESPONSE_BODY, size);
  const size_t count = count_in(body);
  if (count > 0) {
    const struct text other = rewritten(body, count);
    (void)proxy_set_buffer_bytes(RESPONSE_BODY, 0, size, other.data, other.len);
  }
  return CONTINUE;
}
