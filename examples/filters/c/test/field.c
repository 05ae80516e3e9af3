/* A field is taken out of the body where the host says that it stands, and nowhere else. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const eddy_library *library;

/* Enters the body phase with a place list; `expected` is what the header has, null for none. */
static void check_places(uint8_t flags, const char *body, const char *places, const char *expected) {
  struct crossing crossing;
  begin(&crossing, EDDY_REQUEST_BODY, 1, 0);
  /* Of their own sizes, so that a read beyond them is noticed. */
  uint8_t *const bytes = malloc(strlen(body) + 1), *const list = malloc(strlen(places) + 1);
  CHECK(bytes != NULL && list != NULL);
  memcpy(bytes, body, strlen(body));
  memcpy(list, places, strlen(places));
  const eddy_pair pairs[] = {
      {text_of("message_fields"), text_of("tenant"), text_of("\"no\"")},
      {text_of("other"), text_of("tenant_at"), text_of("[[0,1]]")},
      {text_of("message_fields"), text_of("tenant_at"), {list, strlen(places)}},
  };
  eddy_about about = {.metadata = NULL};
  about.metadata = pairs;
  about.metadata_len = sizeof pairs / sizeof *pairs;
  crossing.call.about = &about;
  crossing.call.flags = flags;
  crossing.call.body = (eddy_text){bytes, strlen(body)};
  CHECK(cross(&crossing, library) == EDDY_CONTINUE);
  if (expected == NULL) {
    CHECK(crossing.call.edits_len == 0);
  } else {
    CHECK(is_edit(&crossing, 0, EDDY_EDIT_SET, 0, "x-tenant-c", expected));
  }
  finish(&crossing);
  free(bytes);
  free(list);
}

int main(void) {
  library = eddy_library_open(&test_host);
  CHECK(library != NULL && library->abi == EDDY_ABI && library->filters_len == 1);
  const eddy_filter_info info = make_filter(library, "field", "null");
  CHECK(info.filter == 1 && info.interest == (1u << EDDY_REQUEST_HEAD | 1u << EDDY_REQUEST_BODY));
  check_places(EDDY_CALL_BUFFERED, "0123456789", "[[2,3]]", "234");
  check_places(EDDY_CALL_BUFFERED, "0123456789", "[[2,3],[7,3]]", "789");
  /* The last value counts, even where it is not to be had. */
  check_places(EDDY_CALL_BUFFERED, "0123456789", "[[2,3],[8,3]]", NULL);
  check_places(0, "0123456789", "[[2,3]]", NULL);
  static const char *const wrong[] = {
      "", "[", "[[", "[[4", "[[4,", "[[4,]]", "{}", "[[4,0]]", "[[11,1]]", "[[1,99999999999999999999]]",
      "[[18446744073709551615,2]]",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    check_places(EDDY_CALL_BUFFERED, "0123456789", wrong[i], NULL);
  }
  library->filter_free(info.filter);
  return 0;
}
