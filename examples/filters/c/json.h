/* Reads an object of texts, which is all that these filters are configured with. */
#ifndef EXAMPLE_JSON_H
#define EXAMPLE_JSON_H

#include <eddy_filter.h>

/* Takes a member; null, or what is wrong with it. Texts are UTF-8 and valid only while this runs. */
typedef const char *json_member_fn(void *to, eddy_text key, eddy_text value);

/* Reads `{"key": "value", ...}`, or `null` for no members. Null, or what is wrong: a text that lives as long as the
 * program. */
const char *json_read_texts(eddy_text json, json_member_fn *member, void *to);

#endif
