#include <stdint.h>

#include "_cgo_export.h"

uintptr_t call_back(void *arg) {
  (void)arg;
  calledBack();
  return 0;
}
