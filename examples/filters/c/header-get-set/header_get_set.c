/* Reads a field of each head and sets another to its value: the contract with as little around it as can be. */
#include "../guest.h"
#include "../json.h"

static const eddy_host *host;

/* There is nothing to configure. */
static const char *no_member(void *to, eddy_text key, eddy_text value) {
  (void)to, (void)key, (void)value;
  return "the filter has no keys";
}

static int32_t filter_new(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error) {
  (void)name, (void)id;
  const char *wrong = json_read_texts(config, no_member, NULL);
  if (wrong != NULL) {
    return refuse(error, wrong);
  }
  info->interest = 1u << EDDY_REQUEST_HEAD | 1u << EDDY_RESPONSE_HEAD;
  info->filter = 1; /* It has nothing to find by this number, but 0 means none. */
  return EDDY_OK;
}

static int32_t config_new(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error) {
  const char *wrong = json_read_texts(config, no_member, NULL);
  if (wrong != NULL) {
    return refuse(error, wrong);
  }
  *out = filter;
  return EDDY_OK;
}

static void config_free(uint64_t filter, uint64_t config) { (void)filter, (void)config; }
static void filter_free(uint64_t filter) { (void)filter; }
static void event(const eddy_event *event) { (void)event; }

static uint8_t set(eddy_call *call, uint32_t index, eddy_text name, eddy_text value) {
  const uint32_t before = call->edits_len;
  const eddy_edit edit = {.op = EDDY_EDIT_SET, .step = (uint16_t)index};
  if (append_edit(host, call, edit, name, value)) {
    return EDDY_CONTINUE;
  }
  return fail(host, call, index, before, TEXT("there is no room for the edit"));
}

static uint8_t enter(eddy_call *call, const eddy_step *step, uint32_t index) {
  (void)step;
  uint32_t at = 0;
  if (call->phase == EDDY_REQUEST_HEAD) {
    /* A client of HTTP/2 names the host in the authority only. */
    const eddy_field *field = next_field(&call->request, EDDY_FIELD_HOST, &at);
    return set(call, index, TEXT("host2"), field == NULL ? call->authority : span_text(&call->request, field->value));
  }
  if (call->phase == EDDY_RESPONSE_HEAD) {
    const eddy_field *field = next_field(&call->response, EDDY_FIELD_SERVER, &at);
    return field == NULL ? EDDY_CONTINUE : set(call, index, TEXT("server2"), span_text(&call->response, field->value));
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
  names[0] = TEXT("header-get-set");
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
