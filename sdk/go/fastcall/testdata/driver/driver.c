/* Loads the library of testdata/program like a gateway, and runs its calls on native threads. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static long long (*run)(long long);

static void *work(void *wrong) {
  *(long long *)wrong = run(5000);
  return NULL;
}

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library) {
    fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: driver LIBRARY");
    return 2;
  }
  run = (long long (*)(long long))dlsym(library, "run");
  void (*status)(void) = (void (*)(void))dlsym(library, "status");
  if (!run || !status) return 2;
  long long wrong[4] = {1, 1, 1, 0};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    if (pthread_create(&threads[i], NULL, work, &wrong[i])) return 2;
  wrong[3] = run(5000);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  status();
  return wrong[0] || wrong[1] || wrong[2] || wrong[3];
}
