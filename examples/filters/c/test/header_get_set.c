/* Fields are copied. */
#include "host.h"

static const eddy_library *library;

static void check_request(uint64_t filter) {
  struct crossing crossing;
  begin(&crossing, EDDY_REQUEST_HEAD, filter, 0);
  add_field(&crossing, EDDY_FIELD_ACCEPT, "Accept", "*/*");
  add_field(&crossing, EDDY_FIELD_HOST, "Host", "a.example:81");
  CHECK(cross(&crossing, library) == EDDY_CONTINUE);
  CHECK(is_edit(&crossing, 0, EDDY_EDIT_SET, 0, "host2", "a.example:81"));
  finish(&crossing);

  begin(&crossing, EDDY_REQUEST_HEAD, filter, 0);
  CHECK(cross(&crossing, library) == EDDY_CONTINUE);
  CHECK(is_edit(&crossing, 0, EDDY_EDIT_SET, 0, "host2", "example.com"));
  finish(&crossing);
}

static void check_response(uint64_t filter) {
  struct crossing crossing;
  begin(&crossing, EDDY_RESPONSE_HEAD, filter, 0);
  add_field(&crossing, EDDY_FIELD_SERVER, "server", "demo");
  CHECK(cross(&crossing, library) == EDDY_CONTINUE);
  CHECK(is_edit(&crossing, 0, EDDY_EDIT_SET, 0, "server2", "demo"));
  finish(&crossing);

  begin(&crossing, EDDY_RESPONSE_HEAD, filter, 0);
  CHECK(cross(&crossing, library) == EDDY_CONTINUE);
  CHECK(crossing.call.edits_len == 0);
  finish(&crossing);
}

int main(void) {
  eddy_host other = test_host;
  other.abi = 2;
  CHECK(eddy_library_open(&other) == NULL);
  CHECK(eddy_library_open(NULL) == NULL);
  library = eddy_library_open(&test_host);
  CHECK(library != NULL && library->abi == EDDY_ABI && library->filters_len == 1);
  const eddy_filter_info info = make_filter(library, "header-get-set", " { } ");
  CHECK(info.filter != 0 && info.interest == (1u << EDDY_REQUEST_HEAD | 1u << EDDY_RESPONSE_HEAD));
  check_request(info.filter);
  check_response(info.filter);
  CHECK(make_filter(library, "header-get-set", "{\"value\": \"b\"}").filter == 0);
  CHECK(make_filter(library, "header-get-set", "null").filter != 0);
  library->filter_free(info.filter);
  eddy_call ends = {.abi = EDDY_ABI, .size = sizeof ends, .phase = 255};
  library->run(&ends);
  return 0;
}
