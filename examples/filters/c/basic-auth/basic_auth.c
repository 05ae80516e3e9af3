/* HTTP Basic authentication (RFC 7617) with one user. */
#include <stdlib.h>

#include "../guest.h"
#include "../json.h"
#include "base64.h"

enum { CREDENTIALS_MAX = 256, TEXT_MAX = 128 };

/* A text of the configuration. */
struct word {
  uint8_t bytes[TEXT_MAX];
  size_t len;
  bool is_given;
};

/* A filter, or a rule's configuration for one: both are the same thing with other words. */
struct auth {
  struct word username, password, realm;
  uint8_t credentials[CREDENTIALS_MAX];
  size_t credentials_len;
  uint8_t challenge[TEXT_MAX + 16];
  size_t challenge_len;
};

static const eddy_host *host;

static bool is_key(eddy_text key, const char *name) { return key.len == strlen(name) && memcmp(key.data, name, key.len) == 0; }

static const char *take_word(struct word *word, eddy_text value) {
  if (value.len > TEXT_MAX - 1) {
    return "a text of the configuration is longer than 127 bytes";
  }
  memcpy(word->bytes, value.data, value.len);
  word->len = value.len;
  word->is_given = true;
  return NULL;
}

static const char *take_member(void *to, eddy_text key, eddy_text value) {
  struct auth *auth = to;
  if (is_key(key, "username")) return take_word(&auth->username, value);
  if (is_key(key, "password")) return take_word(&auth->password, value);
  if (is_key(key, "realm")) return take_word(&auth->realm, value);
  return "the filter has the keys username, password and realm";
}

static void append(uint8_t *to, size_t *len, const void *bytes, size_t more) {
  memcpy(to + *len, bytes, more);
  *len += more;
}

/* Checks the words and makes of them what requests are compared with. */
static const char *complete(struct auth *auth) {
  if (!auth->username.is_given || !auth->password.is_given) {
    return "the filter needs the keys username and password";
  }
  if (memchr(auth->username.bytes, ':', auth->username.len) != NULL) {
    return "key \"username\": can't have a colon";
  }
  for (size_t i = 0; i < auth->realm.len; i++) {
    const uint8_t byte = auth->realm.bytes[i];
    if (byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\') {
      return "key \"realm\": can't have quotes, backslashes or control characters";
    }
  }
  auth->credentials_len = 0;
  append(auth->credentials, &auth->credentials_len, auth->username.bytes, auth->username.len);
  append(auth->credentials, &auth->credentials_len, ":", 1);
  append(auth->credentials, &auth->credentials_len, auth->password.bytes, auth->password.len);
  auth->challenge_len = 0;
  append(auth->challenge, &auth->challenge_len, "Basic realm=\"", 13);
  append(auth->challenge, &auth->challenge_len, auth->realm.bytes, auth->realm.len);
  append(auth->challenge, &auth->challenge_len, "\"", 1);
  return NULL;
}

/* Makes a filter or a configuration that begins as `from`. */
static int32_t auth_new(const struct auth *from, eddy_text config, uint64_t *out, eddy_text *error) {
  struct auth *auth = malloc(sizeof *auth);
  if (auth == NULL) {
    return refuse(error, "there is no memory for the filter");
  }
  *auth = *from;
  const char *wrong = json_read_texts(config, take_member, auth);
  if (wrong == NULL) {
    wrong = complete(auth);
  }
  if (wrong != NULL) {
    free(auth);
    return refuse(error, wrong);
  }
  *out = (uint64_t)(uintptr_t)auth;
  return EDDY_OK;
}

static int32_t filter_new(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error) {
  (void)name, (void)id;
  static const struct auth plain = {.realm = {.bytes = "restricted", .len = 10}};
  info->interest = 1u << EDDY_REQUEST_HEAD;
  return auth_new(&plain, config, &info->filter, error);
}

static const struct auth *auth_of(uint64_t number) { return (const struct auth *)(uintptr_t)number; }

static int32_t config_new(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error) {
  return auth_new(auth_of(filter), config, out, error);
}

static void filter_free(uint64_t filter) { free((void *)(uintptr_t)filter); }

static void config_free(uint64_t filter, uint64_t config) {
  (void)filter;
  free((void *)(uintptr_t)config);
}

static void event(const eddy_event *event) { (void)event; }

/* Compares in a time that tells nothing but the lengths. */
static bool is_equal(const uint8_t *given, size_t given_len, const uint8_t *known, size_t known_len) {
  volatile uint8_t different = 0;
  const size_t len = given_len < known_len ? given_len : known_len;
  for (size_t i = 0; i < len; i++) {
    different = (uint8_t)(different | (given[i] ^ known[i]));
  }
  return given_len == known_len && different == 0;
}

static uint8_t lower(uint8_t byte) { return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 32) : byte; }

/* Decodes and compares anew for each request. */
static bool is_known(const struct auth *auth, eddy_text value) {
  static const char scheme[] = "basic ";
  const size_t scheme_len = sizeof scheme - 1;
  if (value.len < scheme_len) {
    return false;
  }
  for (size_t i = 0; i < scheme_len; i++) {
    if (lower(value.data[i]) != (uint8_t)scheme[i]) return false;
  }
  uint8_t given[CREDENTIALS_MAX];
  size_t given_len = 0;
  return base64_decode(value.data + scheme_len, value.len - scheme_len, given, sizeof given, &given_len) &&
         is_equal(given, given_len, auth->credentials, auth->credentials_len);
}

static bool is_allowed(const struct auth *auth, const eddy_head *head) {
  uint32_t at = 0;
  const eddy_field *field = next_field(head, EDDY_FIELD_AUTHORIZATION, &at);
  /* Two fields would leave it to chance which one the endpoint believes. */
  return field != NULL && next_field(head, EDDY_FIELD_AUTHORIZATION, &at) == NULL &&
         is_known(auth, span_text(head, field->value));
}

static uint8_t enter(eddy_call *call, const eddy_step *step, uint32_t index) {
  const struct auth *auth = auth_of(step->config != 0 ? step->config : step->filter);
  if (call->phase != EDDY_REQUEST_HEAD || is_allowed(auth, &call->request)) {
    return EDDY_CONTINUE;
  }
  const uint32_t before = call->edits_len;
  const eddy_edit reply = {.op = EDDY_EDIT_REPLY, .step = (uint16_t)index, .number = 401};
  const eddy_edit field = {.op = EDDY_EDIT_REPLY_FIELD, .step = (uint16_t)index};
  const eddy_text challenge = {auth->challenge, auth->challenge_len};
  if (append_edit(host, call, reply, TEXT("basic_auth"), TEXT("credentials are needed\n")) &&
      append_edit(host, call, field, TEXT("www-authenticate"), challenge)) {
    return EDDY_REPLY;
  }
  return fail(host, call, index, before, TEXT("there is no room for the reply"));
}

static void run(eddy_call *call) { enter_steps(call, enter); }

const eddy_library *eddy_library_open(const eddy_host *offered) {
  static eddy_text names[1];
  static eddy_library library;
  if (!is_host_known(offered)) {
    return NULL;
  }
  host = offered;
  names[0] = TEXT("basic-auth");
  library = (eddy_library){
      .abi = EDDY_ABI,
      .size = sizeof(eddy_library),
      .sdk = TEXT("none"),
      .toolchain = TEXT(TOOLCHAIN),
      .filters = names,
      .filters_len = 1,
      .filter_new = filter_new,
      .config_new = config_new,
      .config_free = config_free,
      .filter_free = filter_free,
      .run = run,
      .event = event,
  };
  return &library;
}
