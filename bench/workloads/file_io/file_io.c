/*
 * Threads that write log lines, and work on small pieces of a file: by the file
 * system this is compiled with, or by a worker of JavaScript, which lines reach
 * through a RecordRing, and all else through a CallRing.
 */
#include <emscripten.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef WASMFS
#include <emscripten/wasmfs.h>
#endif

#include "../../../wasm/weft.h"

enum { LINE = 64, PIECE = 64, GATHERED = 64 };

/* The work of threads, as in `WORK` of process.ts. */
enum {
  LINES_WRITE,
  LINES_FWRITE,
  LINES_RING,
  LINES_GATHERED,
  STEPS_FILE,
  STEPS_CALLS
};

/* The words that a run shares with JavaScript: `run` in process.ts. */
static struct {
  weft_latch *done;
  weft_record_ring *ring;
  weft_call_ring *calls;
  int32_t wrong;
} run;

static char folder[200];

static void wrong(void) { __atomic_fetch_add(&run.wrong, 1, __ATOMIC_SEQ_CST); }

/* ---- lines --------------------------------------------------------------- */

/* "T3 00000042 xxxx...\n", as `lineOf` in process.ts. */
static void make_line(char *line, int32_t thread, int32_t number) {
  memset(line, 'x', LINE);
  line[0] = 'T';
  line[1] = (char)('0' + thread);
  line[2] = line[11] = ' ';
  for (int32_t i = 10; i > 2; i--, number /= 10)
    line[i] = (char)('0' + number % 10);
  line[LINE - 1] = '\n';
}

/* The answer to a flush: the host's number of the first error, of these lines
   or of any before them, or 0 if all lines are in the file. */
typedef struct {
  int32_t error;
  weft_event answered;
} flushed;

/* The first bytes of a record. */
typedef struct {
  int32_t reply; /* the address of a `flushed`; 0 if lines follow */
  int32_t unused; /* the lines lie at a multiple of 8, as copies like it */
} head;

/* As many lines as a thread gathers before it pushes them. */
typedef struct {
  head head;
  char lines[GATHERED * LINE];
} gathered;

static void ring_line(int32_t thread, int32_t number) {
  void *at = NULL;
  int error = weft_record_ring_reserve(run.ring, sizeof(head) + LINE, &at);
  if (error == EBUSY) {
    /* The ring is full: make the line first, then push it, which can sleep. */
    struct {
      head head;
      char line[LINE];
    } record = {0};
    make_line(record.line, thread, number);
    if (weft_record_ring_push(run.ring, &record, sizeof record, WEFT_FOREVER))
      wrong();
    return;
  }
  if (error != 0) return wrong();
  *(head *)at = (head){0};
  make_line((char *)at + sizeof(head), thread, number);
  weft_record_ring_commit(run.ring, at, sizeof(head) + LINE);
}

/* As `ring_line` for each, but many to a record. */
static void ring_lines(int32_t thread, int32_t count) {
  gathered record = {0};
  for (int32_t i = 0; i < count;) {
    int32_t length = 0;
    for (; i < count && length < GATHERED * LINE; i++, length += LINE)
      make_line(record.lines + length, thread, i);
    length += (int32_t)sizeof(head);
    if (weft_record_ring_push(run.ring, &record, length, WEFT_FOREVER)) wrong();
  }
}

/* Waits until all lines of this thread are in the file; not 0 if they are not.
   */
static int32_t ring_flush(void) {
  flushed answer = {0};
  head record = {.reply = (int32_t)&answer};
  if (!weft_event_init(&answer.answered, sizeof answer.answered, false))
    wrong();
  weft_record_ring_push(run.ring, &record, sizeof record, WEFT_FOREVER);
  weft_event_wait(&answer.answered, WEFT_FOREVER);
  return answer.error;
}

static void lines(int32_t what, int32_t thread, int32_t count) {
  char path[256], line[LINE];
  if (what == LINES_RING || what == LINES_GATHERED) {
    if (what == LINES_GATHERED)
      ring_lines(thread, count);
    else
      for (int32_t i = 0; i < count; i++) ring_line(thread, i);
    if (ring_flush() != 0) wrong();
    return;
  }
  snprintf(path, sizeof path, "%s/log%d.txt", folder, (int)thread);
  if (what == LINES_FWRITE) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return wrong();
    for (int32_t i = 0; i < count; i++) {
      make_line(line, thread, i);
      if (fwrite(line, 1, LINE, file) != LINE) wrong();
    }
    if (fclose(file) != 0) wrong();
    return;
  }
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return wrong();
  for (int32_t i = 0; i < count; i++) {
    make_line(line, thread, i);
    if (write(file, line, LINE) != LINE) wrong();
  }
  if (close(file) != 0) wrong();
}

/* Whether a thread's file holds its lines, for file systems that JavaScript
   cannot look into. */
EMSCRIPTEN_KEEPALIVE int32_t holds_lines(int32_t thread, int32_t count) {
  char path[256], line[LINE], expected[LINE];
  snprintf(path, sizeof path, "%s/log%d.txt", folder, (int)thread);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  int32_t i = 0;
  for (; fread(line, 1, LINE, file) == LINE; i++) {
    make_line(expected, thread, i);
    if (memcmp(line, expected, LINE) != 0) break;
  }
  fclose(file);
  return i == count;
}

/* ---- pieces of a file ---------------------------------------------------- */

/* A request to the worker of JavaScript; the reply is an int32, or a piece. */
enum { WRITE, READ, SIZE, READ_ALONE };

typedef struct {
  int32_t operation;
  int32_t offset;
  char piece[PIECE];
} request;

/* Does an operation there; its result, or the length of what was read. */
static int32_t call(request *it, int32_t length, char *piece) {
  int32_t reply_length = PIECE;
  int error = weft_call_ring_call(run.calls, it, length, piece, &reply_length,
                                  WEFT_FOREVER);
  if (error != 0) wrong();
  return reply_length;
}

static void piece_of(char *piece, int32_t i) {
  memset(piece, 'a' + i % 26, PIECE);
}

static void expect_piece(const char *piece, int32_t i) {
  char expected[PIECE];
  piece_of(expected, i);
  if (memcmp(piece, expected, PIECE) != 0) wrong();
}

static int32_t somewhere(int32_t i, int32_t count) {
  return (int32_t)((uint32_t)i * 7919u % (uint32_t)count);
}

static void steps_by_calls(int32_t count) {
  request it;
  char piece[PIECE];
  for (int32_t i = 0; i < count; i++) {
    it.operation = WRITE, it.offset = i * PIECE;
    piece_of(it.piece, i);
    call(&it, sizeof it, piece);
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t k = somewhere(i, count);
    it.operation = READ, it.offset = k * PIECE;
    if (call(&it, 8, piece) != PIECE) wrong();
    expect_piece(piece, k);
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t k = somewhere(i, count);
    it.operation = WRITE, it.offset = k * PIECE;
    piece_of(it.piece, k + 1);
    call(&it, sizeof it, piece);
  }
  for (int32_t i = 0; i < count / 10; i++) {
    int32_t size = 0;
    it.operation = SIZE;
    call(&it, 8, piece);
    memcpy(&size, piece, 4);
    if (size != count * PIECE) wrong();
    it.operation = READ_ALONE, it.offset = 0;
    call(&it, 8, piece);
    expect_piece(piece, 1);
  }
}

static void steps_in_file(int32_t count) {
  char path[256], piece[PIECE];
  struct stat status;
  snprintf(path, sizeof path, "%s/pieces.bin", folder);
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return wrong();
  for (int32_t i = 0; i < count; i++) {
    piece_of(piece, i);
    if (write(file, piece, PIECE) != PIECE) wrong();
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t k = somewhere(i, count);
    if (pread(file, piece, PIECE, (off_t)k * PIECE) != PIECE) wrong();
    expect_piece(piece, k);
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t k = somewhere(i, count);
    piece_of(piece, k + 1);
    if (pwrite(file, piece, PIECE, (off_t)k * PIECE) != PIECE) wrong();
  }
  for (int32_t i = 0; i < count / 10; i++) {
    if (stat(path, &status) != 0 || status.st_size != count * PIECE) wrong();
    int other = open(path, O_RDONLY);
    if (read(other, piece, PIECE) != PIECE) wrong();
    expect_piece(piece, 1);
    close(other);
  }
  if (close(file) != 0) wrong();
}

/* ---- threads ------------------------------------------------------------- */

typedef struct {
  int32_t what, thread, count;
} share;

static void work(share own) {
  if (own.what == STEPS_FILE)
    steps_in_file(own.count);
  else if (own.what == STEPS_CALLS)
    steps_by_calls(own.count);
  else
    lines(own.what, own.thread, own.count);
}

static void *thread_main(void *context) {
  work(*(share *)context);
  free(context);
  weft_latch_count_down(run.done, 1);
  return NULL;
}

/* The folder of the files, and whether the host has them. */
EMSCRIPTEN_KEEPALIVE char *folder_bytes(void) { return folder; }

EMSCRIPTEN_KEEPALIVE int32_t use_folder(int32_t of_host) {
#ifdef WASMFS
  if (!of_host) return 0;
  backend_t host = wasmfs_create_node_backend(folder);
  strcpy(folder, "/host");
  return wasmfs_create_directory(folder, 0777, host);
#else
  return of_host & 0;
#endif
}

EMSCRIPTEN_KEEPALIVE void *prepare(int32_t threads) {
  const weft_record_ring_config ring = {.capacity = 1 << 22,
                                        .single_producer = false};
  const weft_call_ring_config calls = {
      .slots = 8, .request = sizeof(request), .reply = PIECE};
  free(run.done), free(run.ring), free(run.calls);
  run.wrong = 0;
  run.done =
      weft_latch_init(malloc(WEFT_LATCH_BYTES), WEFT_LATCH_BYTES, threads);
  size_t bytes = weft_record_ring_bytes(ring);
  run.ring = weft_record_ring_init(malloc(bytes), bytes, ring);
  bytes = weft_call_ring_bytes(calls);
  run.calls = weft_call_ring_init(malloc(bytes), bytes, calls);
  return &run;
}

EMSCRIPTEN_KEEPALIVE void begin(int32_t what, int32_t threads, int32_t count) {
  for (int32_t i = 0; i < threads; i++) {
    share *own = (share *)malloc(sizeof *own);
    *own = (share){what, i, count / threads};
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_main, own) != 0) abort();
    pthread_detach(thread);
  }
}

/* As `begin`, in this thread. */
EMSCRIPTEN_KEEPALIVE void begin_here(int32_t what, int32_t count) {
  work((share){what, 0, count});
  weft_latch_count_down(run.done, 1);
}
