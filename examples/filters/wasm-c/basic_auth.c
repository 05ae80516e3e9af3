/* Asks for a user name and a password (RFC 7617). Its configuration is the text `name:password`. */
#include "proxy_wasm.h"

enum { CREDENTIALS_MAX = 255 };

/* The field that the one user sends, and the user's name. */
static char expected[6 + 4 * ((CREDENTIALS_MAX + 2) / 3)];
static size_t expected_len;
static char user[CREDENTIALS_MAX];
static size_t user_len;

/* Writes base64 with the standard alphabet and its padding (RFC 4648, section 4); gives the place behind it. */
static char *put_base64(char *to, struct text text) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t at = 0; at < text.len; at += 3) {
    const size_t count = text.len - at < 3 ? text.len - at : 3;
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; i++) {
      bits = bits << 8 | (i < count ? (unsigned char)text.data[at + i] : 0u);
    }
    for (size_t i = 0; i < 4; i++) {
      *to++ = i <= count ? letters[bits >> (18 - 6 * i) & 63u] : '=';
    }
  }
  return to;
}

EXPORT("proxy_on_configure") bool proxy_on_configure(uint32_t plugin, size_t size) {
  (void)plugin;
  release();
  const struct text credentials = bytes_of(PLUGIN_CONFIGURATION, size);
  const size_t colon = find(credentials, 0, TEXT(":"));
  if (colon == credentials.len || credentials.len > CREDENTIALS_MAX) {
    return refuse(TEXT("config: a user name, a colon and a password, at most 255 bytes"));
  }
  user_len = (size_t)(put(user, (struct text){credentials.data, colon}) - user);
  expected_len = (size_t)(put_base64(put(expected, TEXT("Basic ")), credentials) - expected);
  return true;
}

/* Answers in the endpoint's place. */
static void challenge(void) {
  /* One pair: how many there are, the lengths of its name and its value, then both, each with a null behind it. */
  static const char fields[] = "\1\0\0\0\20\0\0\0\30\0\0\0www-authenticate\0Basic realm=\"restricted\"";
  const struct text why = TEXT("basic_auth"), body = TEXT("a user name and a password, please\n");
  (void)proxy_send_local_response(401, why.data, why.len, body.data, body.len, fields, sizeof fields, -1);
}

EXPORT("proxy_on_request_headers") int32_t proxy_on_request_headers(uint32_t stream, uint32_t count, uint32_t is_end) {
  (void)stream, (void)count, (void)is_end;
  release();
  if (!is_equal(field(REQUEST_HEADERS, TEXT("authorization")), (struct text){expected, expected_len})) {
    challenge();
    return PAUSE;
  }
  const struct text name = TEXT("x-user");
  (void)proxy_replace_header_map_value(REQUEST_HEADERS, name.data, name.len, user, user_len);
  return CONTINUE;
}
