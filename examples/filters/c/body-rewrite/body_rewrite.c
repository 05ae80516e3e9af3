/* Puts one text in the place of another in the bodies of responses that are text. */
#include <stdlib.h>

#include "../guest.h"
#include "../json.h"

enum { TEXT_MAX = 1024 };

/* A text of the configuration. */
struct word {
  uint8_t bytes[TEXT_MAX];
  size_t len;
};

/* A filter, or a rule's configuration for one. */
struct rewrite {
  struct word find, replace;
};

static const eddy_host *host;

static eddy_text text_of(const struct word *word) { return (eddy_text){word->bytes, word->len}; }

static bool is_text(eddy_text one, const char *other) {
  return one.len == strlen(other) && memcmp(one.data, other, one.len) == 0;
}

static const char *take_member(void *to, eddy_text key, eddy_text value) {
  struct rewrite *rewrite = to;
  struct word *word = is_text(key, "find") ? &rewrite->find : is_text(key, "replace") ? &rewrite->replace : NULL;
  if (word == NULL) return "the filter has the keys find and replace";
  if (value.len > TEXT_MAX) return "a text of the configuration is longer than 1024 bytes";
  memcpy(word->bytes, value.data, value.len);
  word->len = value.len;
  return NULL;
}

/* Makes a filter or a configuration that begins as `from`. */
static int32_t rewrite_new(const struct rewrite *from, eddy_text config, uint64_t *out, eddy_text *error) {
  struct rewrite *rewrite = malloc(sizeof *rewrite);
  if (rewrite == NULL) {
    return refuse(error, "there is no memory for the filter");
  }
  *rewrite = *from;
  const char *wrong = json_read_texts(config, take_member, rewrite);
  if (wrong == NULL && rewrite->find.len == 0) {
    wrong = "the filter needs the key find, which can't be empty";
  }
  if (wrong != NULL) {
    free(rewrite);
    return refuse(error, wrong);
  }
  *out = (uint64_t)(uintptr_t)rewrite;
  return EDDY_OK;
}

static int32_t filter_new(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error) {
  (void)name, (void)id;
  static const struct rewrite plain;
  info->interest = 1u << EDDY_RESPONSE_HEAD | 1u << EDDY_RESPONSE_BODY;
  return rewrite_new(&plain, config, &info->filter, error);
}

static const struct rewrite *rewrite_of(uint64_t number) { return (const struct rewrite *)(uintptr_t)number; }

static int32_t config_new(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error) {
  return rewrite_new(rewrite_of(filter), config, out, error);
}

static void filter_free(uint64_t filter) { free((void *)(uintptr_t)filter); }

static void config_free(uint64_t filter, uint64_t config) {
  (void)filter;
  free((void *)(uintptr_t)config);
}

static void event(const eddy_event *event) { (void)event; }

/* Where `what` begins in `text` from `from` on, or the length of `text`. */
static size_t find(eddy_text text, size_t from, eddy_text what) {
  for (size_t at = from; at + what.len <= text.len; at++) {
    if (memcmp(text.data + at, what.data, what.len) == 0) {
      return at;
    }
  }
  return text.len;
}

static uint8_t *put(uint8_t *to, eddy_text text) {
  if (text.len > 0) {
    memcpy(to, text.data, text.len);
  }
  return to + text.len;
}

/* The body with what is put into it, which has `count` places for it; null where there is no memory. */
static uint8_t *rewritten(const struct rewrite *rewrite, eddy_text body, size_t count, size_t *len) {
  const eddy_text wanted = text_of(&rewrite->find), replacement = text_of(&rewrite->replace);
  *len = body.len - count * wanted.len + count * replacement.len;
  uint8_t *const to = malloc(*len + 1);
  if (to == NULL) {
    return NULL;
  }
  uint8_t *end = to;
  size_t from = 0;
  for (size_t at = find(body, 0, wanted); at < body.len; at = find(body, from, wanted)) {
    end = put(put(end, (eddy_text){body.data + from, at - from}), replacement);
    from = at + wanted.len;
  }
  (void)put(end, (eddy_text){body.data + from, body.len - from});
  return to;
}

static uint8_t enter_body(const struct rewrite *rewrite, eddy_call *call, uint32_t index) {
  const eddy_text wanted = text_of(&rewrite->find);
  size_t count = 0;
  for (size_t at = find(call->body, 0, wanted); at < call->body.len; at = find(call->body, at + wanted.len, wanted)) {
    count++;
  }
  if (count == 0) {
    return EDDY_CONTINUE;
  }
  const uint32_t before = call->edits_len;
  size_t len = 0;
  uint8_t *const body = rewritten(rewrite, call->body, count, &len);
  const eddy_edit set = {.op = EDDY_EDIT_BODY_SET, .step = (uint16_t)index};
  const eddy_edit remove = {.op = EDDY_EDIT_REMOVE, .step = (uint16_t)index};
  /* The tag was that of the old body. */
  const bool is_told = body != NULL && append_edit(host, call, set, TEXT(""), (eddy_text){body, len}) &&
                       append_edit(host, call, remove, TEXT("etag"), TEXT(""));
  free(body);
  return is_told ? EDDY_CONTINUE : fail(host, call, index, before, TEXT("there is no room for the body"));
}

static uint8_t enter_head(const eddy_call *call) {
  static const char prefix[] = "text/";
  uint32_t type_at = 0, coding_at = 0;
  const eddy_field *type = next_field(&call->response, EDDY_FIELD_CONTENT_TYPE, &type_at);
  const eddy_field *coding = next_field(&call->response, EDDY_FIELD_CONTENT_ENCODING, &coding_at);
  if ((call->flags & EDDY_CALL_END) != 0 || type == NULL || coding != NULL) {
    return EDDY_CONTINUE;
  }
  const eddy_text kind = span_text(&call->response, type->value);
  const bool is_wanted = kind.len >= sizeof prefix - 1 && memcmp(kind.data, prefix, sizeof prefix - 1) == 0;
  /* What is looked for may lie across two pieces. */
  return is_wanted ? EDDY_BUFFER : EDDY_CONTINUE;
}

static uint8_t enter(eddy_call *call, const eddy_step *step, uint32_t index) {
  if (call->phase == EDDY_RESPONSE_HEAD) {
    return enter_head(call);
  }
  if (call->phase == EDDY_RESPONSE_BODY && (call->flags & EDDY_CALL_BUFFERED) != 0) {
    return enter_body(rewrite_of(step->config != 0 ? step->config : step->filter), call, index);
  }
  return EDDY_CONTINUE;
}

static void run(eddy_call *call) { enter_steps(call, enter); }

const eddy_library *eddy_library_open(const eddy_host *offered) {
  static eddy_text names[1];
  static eddy_library library;
  if (!is_host_known(offered)) {
    return NULL;
  }
  host = offered;
  names[0] = TEXT("body-rewrite");
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
