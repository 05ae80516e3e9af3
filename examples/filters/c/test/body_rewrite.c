/* Texts take the place of others in whole bodies, and nowhere else. */
#include <string.h>

#include "host.h"

static const eddy_library *library;

static void check_head(uint64_t filter, const char *type, const char *coding, uint8_t verdict) {
  struct crossing crossing;
  begin(&crossing, EDDY_RESPONSE_HEAD, filter, 0);
  crossing.call.flags = 0;
  add_field(&crossing, EDDY_FIELD_CONTENT_TYPE, "content-type", type);
  if (coding != NULL) {
    add_field(&crossing, EDDY_FIELD_CONTENT_ENCODING, "content-encoding", coding);
  }
  CHECK(cross(&crossing, library) == verdict && crossing.call.edits_len == 0);
  finish(&crossing);
}

static void check_body(uint64_t filter, uint64_t config, const char *body, const char *expected) {
  struct crossing crossing;
  begin(&crossing, EDDY_RESPONSE_BODY, filter, config);
  crossing.call.flags = EDDY_CALL_BUFFERED;
  crossing.call.body = text_of(body);
  CHECK(cross(&crossing, library) == EDDY_CONTINUE);
  if (expected == NULL) {
    CHECK(crossing.call.edits_len == 0);
  } else {
    CHECK(is_edit(&crossing, 0, EDDY_EDIT_BODY_SET, 0, "", expected));
    CHECK(is_edit(&crossing, 1, EDDY_EDIT_REMOVE, 0, "etag", ""));
  }
  finish(&crossing);
}

static void check_refused(const char *config, const char *why) {
  CHECK(make_filter(library, "body-rewrite", config).filter == 0);
  CHECK(strstr(refusal, why) != NULL);
}

int main(void) {
  library = eddy_library_open(&test_host);
  CHECK(library != NULL && library->abi == EDDY_ABI && library->filters_len == 1);
  const eddy_filter_info info = make_filter(library, "body-rewrite", "{\"find\": \"cat\", \"replace\": \"mouse\"}");
  CHECK(info.filter != 0 && info.interest == (1u << EDDY_RESPONSE_HEAD | 1u << EDDY_RESPONSE_BODY));
  check_head(info.filter, "text/plain", NULL, EDDY_BUFFER);
  check_head(info.filter, "text/plain", "gzip", EDDY_CONTINUE);
  check_head(info.filter, "image/png", NULL, EDDY_CONTINUE);
  check_head(info.filter, "text", NULL, EDDY_CONTINUE);
  check_body(info.filter, 0, "one cat, two cats", "one mouse, two mouses");
  check_body(info.filter, 0, "cacatcat", "camousemouse");
  check_body(info.filter, 0, "no ca", NULL);
  check_body(info.filter, 0, "", NULL);
  uint64_t config = 0;
  eddy_text error = {(uint8_t *)refusal, sizeof refusal - 1};
  CHECK(library->config_new(info.filter, text_of("{\"replace\": \"\"}"), &config, &error) == EDDY_OK);
  check_body(info.filter, config, "cat cat", " ");
  check_body(info.filter, config, "cat", "");
  library->config_free(info.filter, config);
  check_refused("null", "can't be empty");
  check_refused("{\"find\": \"\"}", "can't be empty");
  check_refused("{\"with\": \"x\"}", "find and replace");
  library->filter_free(info.filter);
  return 0;
}
