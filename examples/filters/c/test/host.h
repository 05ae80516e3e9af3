/* A host for the tests of the C examples: one call at a time, with its edits. */
#ifndef EXAMPLE_HOST_H
#define EXAMPLE_HOST_H

#include <eddy_filter.h>
#include <stdbool.h>

enum { FIELDS_MAX = 8 };

/* What a crossing is made of. */
struct crossing {
  eddy_call call;
  eddy_step step;
  eddy_field fields[FIELDS_MAX];
  uint8_t *bytes; /* of the head, exactly as many as are needed, so that a read beyond them is noticed */
  uint8_t *edits;
  volatile uint32_t current;
};

extern const eddy_host test_host;

/* Ends the test with the place where something does not hold. */
#define CHECK(holds) check((holds), #holds, __FILE__, __LINE__)
void check(bool holds, const char *what, const char *file, int line);

eddy_text text_of(const char *text);

/* Makes a filter; 0 where it refuses the configuration, whose reason is in `refusal` then. */
eddy_filter_info make_filter(const eddy_library *library, const char *name, const char *config);
extern char refusal[256];

/* Begins a crossing of one filter, without room for edits. */
void begin(struct crossing *crossing, uint8_t phase, uint64_t filter, uint64_t config);
/* Adds a field to the head of the phase. */
void add_field(struct crossing *crossing, uint8_t id, const char *name, const char *value);
/* Enters the library; answers with the verdict. */
uint8_t cross(struct crossing *crossing, const eddy_library *library);
/* Whether the edit of this index is this. */
bool is_edit(const struct crossing *crossing, unsigned index, uint16_t op, uint32_t number, const char *name,
             const char *value);
void finish(struct crossing *crossing);

#endif
