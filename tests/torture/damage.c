/*
 * Damages the words of primitives and calls everything that does not wait:
 * each call must come back, and touch nothing outside of its region. Built
 * with AddressSanitizer and UndefinedBehaviorSanitizer, which end the program
 * where it does.
 *
 *   damage SECONDS SEED [NAME]
 *
 * With LIBFUZZER, libFuzzer calls it instead, and chooses what is damaged.
 *
 * Each subject runs in a process of its own. A case that ends it, or hangs, is
 * printed, and the next one begins. The last line of the output is one JSON
 * object: `calls`, and `problems`. The words of a sealed configuration stay as
 * they are: attaching checks them, and C reads them again at each call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WEFT_STDIO
#include "weft.h"

#include "damage_subjects.h"

enum { MOST_PROBLEMS = 12, SECONDS_TO_HANG = 5 };

typedef struct {
  int64_t calls;
  int64_t cases;
  char text[200];
} progress;

static progress *shared;

/* Where the lines of weft_inspect go. */
static FILE *nowhere;

/* What comes before the first case, whoever chooses the cases. */
static void prepare(void) {
  measure();
  nowhere = fopen("/dev/null", "w");
  if (nowhere == NULL) {
    perror("/dev/null");
    exit(2);
  }
}

/* ---- cases
 * ------------------------------------------------------------------- */

#if defined(LIBFUZZER)
/* libFuzzer chooses: its bytes are the random numbers. */
static const uint8_t *chosen;
static size_t chosen_left;

static uint32_t random_below(uint32_t n) {
  uint32_t number = 0;
  for (uint32_t left = n - 1; left > 0 && chosen_left > 0; left >>= 8) {
    number = number << 8 | *chosen++;
    chosen_left--;
  }
  return number % n;
}
#else
static uint32_t random_state;

static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % n;
}
#endif

static const int32_t VALUES[] = {
    0,       1,       -1,      2,       3,       4,         5,
    7,       12,      77,      1000,    -1000,   INT32_MAX, INT32_MIN,
    1 << 28, 1 << 29, 1 << 30, 1 << 15, 3 << 28, 0x7ffffff8};

/* Inspects it, and recovers it from two agents. */
static void look_at(const subject *s, void *at) {
  const int32_t dead[] = {5, 6};
  char kind[32];
  weft_finding found[4];
  weft_part part = {WEFT_PART_BY_HEAD, at};
  snprintf(kind, sizeof kind, "%s", s->name);
  char *more = strstr(kind, "_of_one");
  if (more == NULL) more = strstr(kind, "_cache");
  if (more != NULL) *more = '\0';
  if (weft_inspect_as(at, kind, nowhere) != 0) abort();
  if (strcmp(kind, "mutex") == 0) part.kind = WEFT_PART_MUTEX;
  if (strcmp(kind, "rw_lock") == 0) part.kind = WEFT_PART_RW_LOCK;
  if (strcmp(kind, "condition") == 0) return; /* nobody holds it */
  if (strcmp(kind, "wait_group") == 0) return;
  if (weft_recover(dead, 2, &part, 1, found, 4) < 0) abort();
}

/* Whether the word is part of the configuration of a heap, which has a seal of
   its own. */
static bool is_of_heap(const subject *s, uint32_t index) {
  return strncmp(s->name, "hash_map", 8) == 0 &&
         index >= WEFT__HASH_BLOCKS_WORD &&
         index <= WEFT__HASH_BLOCKS_WORD + 4;
}

static void one_case(const subject *s) {
  int32_t *words = (int32_t *)malloc(s->bytes);
  s->init(words, s->bytes);
  uint32_t all = (uint32_t)(s->bytes / 4);
  uint32_t sealed = (uint32_t)s->sealed;
  int at = snprintf(shared->text, sizeof shared->text, "%s:", s->name);
  for (uint32_t i = 0; i <= random_below(2); i++) {
    uint32_t index = sealed + random_below(all - sealed);
    while (is_of_heap(s, index)) index = sealed + random_below(all - sealed);
    switch (random_below(3)) {
      case 0:
        words[index] =
            (int32_t)((uint32_t)words[index] ^ 1u << random_below(32));
        break;
      case 1:
        words[index] = VALUES[random_below(sizeof VALUES / sizeof VALUES[0])];
        break;
      default:
        words[index] =
            (int32_t)(random_below(1 << 16) << 16 | random_below(1 << 16));
    }
    at += snprintf(shared->text + at, sizeof shared->text - (size_t)at,
                   " word %u = %d", (unsigned)index, (int)words[index]);
  }
  uint32_t first = random_below((uint32_t)s->count);
  char *call = shared->text + at;
  snprintf(call, sizeof shared->text - (size_t)at, "; inspect, recover");
  bool before = random_below(2) == 0;
  shared->calls += 2;
  if (before) look_at(s, words);
  for (int i = 0; i < s->count; i++) {
    int which = ((int)first + i) % s->count;
    snprintf(call, sizeof shared->text - (size_t)at, "; call %d", which);
    shared->calls++;
    s->calls(words, which);
  }
  if (!before) look_at(s, words);
  free(words);
}

#if defined(LIBFUZZER)
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static progress own;
  if (shared == NULL) {
    shared = &own;
    prepare();
    weft_agent_set_id(9);
  }
  chosen = bytes;
  chosen_left = count;
  one_case(&SUBJECTS[random_below(COUNT)]);
  return 0;
}
#else
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs cases of one subject until `end`; how many of them went wrong. */
static int run_subject(const subject *s, double end, uint32_t seed) {
  int problems = 0;
  while (now() < end && problems < MOST_PROBLEMS) {
    pid_t pid = fork();
    if (pid < 0) {
      perror("fork");
      exit(2);
    }
    if (pid == 0) {
      random_state = seed + (uint32_t)shared->cases * 7919u;
      weft_agent_set_id(9);
      while (now() < end) {
        /* Of processor time: a busy machine is no hang. */
        struct itimerval limit = {{0, 0}, {SECONDS_TO_HANG, 0}};
        setitimer(ITIMER_PROF, &limit, NULL);
        for (int i = 0; i < 1000; i++) {
          shared->cases++;
          one_case(s);
        }
      }
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    problems++;
    bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    printf("%s: %s\n", hung ? "hangs" : "ends the program", shared->text);
    fflush(stdout);
  }
  return problems;
}

int main(int count, char **words) {
  if (count < 3) {
    fprintf(stderr, "usage: damage SECONDS SEED [NAME]\n");
    return 2;
  }
  prepare();
  shared = (progress *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    perror("mmap");
    return 2;
  }
  uint32_t seed = (uint32_t)atoi(words[2]);
  const char *only = count > 3 ? words[3] : "";
  int chosen = 0, problems = 0;
  for (int i = 0; i < COUNT; i++)
    if (strstr(SUBJECTS[i].name, only) != NULL) chosen++;
  for (int i = 0; i < COUNT; i++) {
    if (strstr(SUBJECTS[i].name, only) == NULL) continue;
    double end = now() + atof(words[1]) / chosen;
    problems += run_subject(&SUBJECTS[i], end, seed);
  }
  printf("{\"calls\":%lld,\"problems\":%d}\n", (long long)shared->calls,
         problems);
  return problems == 0 ? 0 : 1;
}
#endif
