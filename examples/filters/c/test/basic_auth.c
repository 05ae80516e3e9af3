/* Who passes and who doesn't. */
#include <string.h>

#include "host.h"

static const eddy_library *library;
static const char right[] = "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk";

static uint8_t ask(uint64_t filter, uint64_t config, const char *first, const char *second) {
  struct crossing crossing;
  begin(&crossing, EDDY_REQUEST_HEAD, filter, config);
  if (first != NULL) add_field(&crossing, EDDY_FIELD_AUTHORIZATION, "Authorization", first);
  if (second != NULL) add_field(&crossing, EDDY_FIELD_AUTHORIZATION, "authorization", second);
  const uint8_t verdict = cross(&crossing, library);
  if (verdict == EDDY_REPLY) {
    CHECK(is_edit(&crossing, 0, EDDY_EDIT_REPLY, 401, "basic_auth", "credentials are needed\n"));
    CHECK(is_edit(&crossing, 1, EDDY_EDIT_REPLY_FIELD, 0, "www-authenticate", "Basic realm=\"restricted\""));
  } else {
    CHECK(crossing.call.edits_len == 0);
  }
  finish(&crossing);
  return verdict;
}

static void check_users(uint64_t filter) {
  static const char *const wrong[] = {
      "",
      "Basic",
      "Basic ",
      "Basic !!!!",
      "Basic ====",
      "Basic Zm9vbmFtZTo=",
      "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jj",
      "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk=",
      "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3JkZA==",
      "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3JkZB==",
      "Bearer Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk",
  };
  CHECK(ask(filter, 0, right, NULL) == EDDY_CONTINUE);
  CHECK(ask(filter, 0, "bASIC Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk", NULL) == EDDY_CONTINUE);
  CHECK(ask(filter, 0, NULL, NULL) == EDDY_REPLY);
  CHECK(ask(filter, 0, right, right) == EDDY_REPLY);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK(ask(filter, 0, wrong[i], NULL) == EDDY_REPLY);
  }
  char large[8192] = "Basic ";
  memset(large + 6, 'Q', sizeof large - 8);
  CHECK(ask(filter, 0, large, NULL) == EDDY_REPLY);
}

static void check_rule(uint64_t filter) {
  uint64_t config = 0;
  eddy_text error = {(uint8_t *)refusal, sizeof refusal - 1};
  CHECK(library->config_new(filter, text_of("{\"password\": \"\\u0062\"}"), &config, &error) == EDDY_OK);
  CHECK(ask(filter, config, "Basic Zm9vbmFtZTpi", NULL) == EDDY_CONTINUE);
  CHECK(ask(filter, config, right, NULL) == EDDY_REPLY);
  CHECK(ask(filter, 0, right, NULL) == EDDY_CONTINUE);
  library->config_free(filter, config);
  CHECK(library->config_new(filter, text_of("{\"username\": \":\"}"), &config, &error) != EDDY_OK);
}

static void check_refused(const char *config, const char *says) {
  CHECK(make_filter(library, "basic-auth", config).filter == 0);
  CHECK(strstr(refusal, says) != NULL);
}

int main(void) {
  library = eddy_library_open(&test_host);
  CHECK(library != NULL);
  const eddy_filter_info info =
      make_filter(library, "basic-auth", "{\"username\": \"fooname\",\n\"password\" : \"validpassword\"}");
  CHECK(info.filter != 0 && info.interest == 1u << EDDY_REQUEST_HEAD);
  check_users(info.filter);
  check_rule(info.filter);
  library->filter_free(info.filter);

  check_refused("null", "username and password");
  check_refused("{\"username\": \"a\"}", "username and password");
  check_refused("{\"username\": \"a:b\", \"password\": \"c\"}", "colon");
  check_refused("{\"username\": \"a\", \"password\": \"b\", \"realm\": \"\\\"\"}", "realm");
  check_refused("{\"username\": \"a\", \"password\": \"b\", \"relm\": \"c\"}", "keys");
  check_refused("{\"username\": 1}", "texts");
  check_refused("{\"username\": \"\\ud800\"}", "JSON");
  check_refused("{\"username\": \"\\x\"}", "JSON");
  check_refused("{\"username\": \"", "JSON");
  check_refused("{\"username\": \"a\", \"password\": \"b\"} x", "texts");
  check_refused("{\"username\": \"a\", \"password\": \"b\",}", "texts");
  check_refused("[]", "texts");
  return 0;
}
