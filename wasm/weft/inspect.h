/* inspect.h - the twin of primitives/tools/inspect.ts. */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include "_inspect_shown.h"

#if defined(WEFT_STDIO) && !defined(WEFT_REALTIME)

WEFT__BEGIN

/* What is shown of the kind that `magic` names; NULL if it names no kind. */
static inline const weft__shown *weft__shown_by_head(int32_t magic) {
  const weft__shown *shown;
  for (size_t i = 0; (shown = weft__shown_of(i)) != NULL; i++)
    if (shown->number != 0 && weft__magic(shown->number) == magic) break;
  return shown;
}

/* Whether a word counts waiters. */
static inline bool weft__counts_waiters(const char *name) {
  size_t length = __builtin_strlen(name);
  return length >= 7 && __builtin_strcmp(name + length - 7, "waiters") == 0;
}

/* Set in a count below 0. Bit 31 of an epoch's count is a flag, and
   2^30 agents never wait. */
static inline int32_t weft__below(const char *name) {
  return name[0] == 'w' ? INT32_MIN : 1 << 30;
}

/* Copies the words that have names. */
static inline void weft__copy_named(const weft__shown *shown, const void *at,
                                    int32_t *copy) {
  for (const weft__field *f = shown->fields; f->name != NULL; f++)
    copy[f->word] = weft__glance((const int32_t *)at + f->word);
}

/* What one look at a primitive finds, of whose words there is a copy. */
static inline void weft__look_for_problems(const weft__shown *shown,
                                           const void *at, const int32_t *copy,
                                           weft__problems *found) {
  found->fields = shown->fields;
  found->copy = copy;
  found->count = 0;
  if (shown->number != 0) {
    size_t seal = (size_t)weft__seal_word(shown->number);
    int32_t first = seal > 1 ? copy[1] : 0;
    int32_t second = seal > 2 ? copy[2] : 0;
    bool wrong = copy[seal] != weft__seal(shown->number, first, second);
    weft__tell(found, wrong, seal,
               "The configuration does not match its seal.");
    bool is_possible = weft__possible(shown->number, first, second) &&
                       (shown->number != WEFT_KIND_hash_map ||
                        weft__hash_heap_is_possible(copy));
    weft__tell(found, !wrong && !is_possible, 1,
               "The configuration is impossible.");
    if (found->count > 0) return;
  }
  for (const weft__field *f = shown->fields; f->name != NULL; f++)
    weft__tell(found,
               weft__counts_waiters(f->name) &&
                   (copy[f->word] & weft__below(f->name)) != 0,
               f->word, "There are fewer than 0 waiters.");
  if (shown->problems != NULL) shown->problems(copy, found);
  if (shown->behind != NULL) shown->behind(at, found);
}

/* Keeps the problems that another look found, too. */
static inline void weft__keep_problems(weft__problems *found,
                                       const weft__problems *again) {
  int32_t count = 0;
  for (int32_t i = 0; i < found->count; i++) {
    const weft__problem *p = &found->all[i];
    for (int32_t j = 0; j < again->count; j++) {
      const weft__problem *q = &again->all[j];
      if (q->index != p->index || q->value != p->value || q->text != p->text)
        continue;
      found->all[count++] = *p;
      break;
    }
  }
  found->count = count;
}

/* Prints the problems that a look and 20 more find unchanged: words that agents
   change meanwhile may seem not to fit together, but not again and again.
   Returns how many there are. If `at` is the carrier of a channel,
   `channel` is where that begins; otherwise it is `at`. */
static inline int32_t weft__print_problems(const weft__shown *shown,
                                           const void *at, const void *channel,
                                           FILE *out) {
  int32_t copy[256];
  weft__problems found, again;
  size_t before = (size_t)((const int32_t *)at - (const int32_t *)channel);
  weft__copy_named(shown, at, copy);
  weft__look_for_problems(shown, at, copy, &found);
  for (int looks = 20; looks > 0 && found.count > 0; looks--) {
    weft__copy_named(shown, at, copy);
    weft__look_for_problems(shown, at, copy, &again);
    weft__keep_problems(&found, &again);
  }
  for (int32_t i = 0; i < found.count; i++) {
    const weft__problem *p = &found.all[i];
    fprintf(out, "%s{\"word\":\"%s", i > 0 ? "," : "", p->word);
    if (p->part >= 0) fprintf(out, " %ld", (long)p->part);
    if (before > 0) fprintf(out, " of the %s", shown->kind);
    fprintf(out, "\",\"index\":%zu,\"value\":%ld,\"what\":\"%s\"",
            p->index + before, (long)p->value,
            p->claimed ? "claimed" : "damaged");
    fprintf(out, ",\"text\":\"%s\"}", p->text);
  }
  return found.count;
}

/* The carrier of the channel at `at`; NULL if there is none. */
static inline const weft__shown *weft__shown_carrier(const void *at) {
  const weft__shown *shown =
      weft__shown_by_head(weft__load((const int32_t *)at));
  if (shown == NULL) return NULL;
  switch (shown->number) {
    case WEFT_KIND_spsc_queue:
    case WEFT_KIND_mpmc_queue:
    case WEFT_KIND_lock_free_queue:
    case WEFT_KIND_record_ring:
      return shown;
    default:
      return NULL;
  }
}

/*
 * Does the same as weft_inspect for a primitive of `kind`, such as "mutex": a
 * primitive that zeroed memory already is has no word that says its kind. Also
 * EINVAL if there is no such kind, or another one at `at`.
 */
static inline int weft_inspect_as(const void *at, const char *kind,
                                  FILE *out) {
  const int32_t *words = (const int32_t *)at;
  const weft__shown *shown;
  size_t i = 0;
  while ((shown = weft__shown_of(i++)) != NULL)
    if (__builtin_strcmp(shown->kind, kind) == 0) break;
  if (shown == NULL || !weft__aligned(at)) return EINVAL;
  if (shown->number != 0 && weft__load(words) != weft__magic(shown->number))
    return EINVAL;
  int32_t copy[256];
  const char *comma = "";
  weft__copy_named(shown, at, copy);
  fprintf(out, "{\"kind\":\"%s\",\"byteOffset\":%zu,\"words\":{", shown->kind,
          (size_t)(uintptr_t)at);
  for (const weft__field *f = shown->fields; f->name != NULL; f++) {
    fprintf(out, "%s\"%s\":%ld", comma, f->name, (long)copy[f->word]);
    comma = ",";
  }
  fprintf(out, "}");
  if (shown->owner != NULL)
    fprintf(out, ",\"owner\":%ld", (long)shown->owner(copy));
  if (shown->waiters != NULL)
    fprintf(out, ",\"waiters\":%lld", (long long)shown->waiters(copy));
  fprintf(out, ",\"problems\":[");
  int32_t problems = weft__print_problems(shown, at, at, out);
  if (shown->number == WEFT_KIND_channel && problems == 0 &&
      !weft__channel_hands((const weft_channel *)at)) {
    const void *queue = (const weft_channel *)at + 1;
    const weft__shown *carrier = weft__shown_carrier(queue);
    if (carrier != NULL)
      weft__print_problems(carrier, queue, at, out);
    else
      fprintf(out,
              "{\"word\":\"magic\",\"index\":0,\"value\":%ld,"
              "\"what\":\"damaged\",\"text\":"
              "\"There is no queue behind it.\"}",
              (long)copy[0]);
  }
  fprintf(out, "]}\n");
  return 0;
}

/*
 * Prints one line about the words of the primitive at `at`: what JSON.stringify
 * makes of the result of inspect in JavaScript. It only reads them. It may be
 * called at any time, also for memory of terminated agents, so it accepts a
 * configuration that does not match its seal: that is one of `problems`. If the
 * configuration is right, the memory behind the words must be there, too.
 * EINVAL if nothing of this layout version was initialized there.
 */
static inline int weft_inspect(const void *at, FILE *out) {
  if (!weft__aligned(at)) return EINVAL;
  const weft__shown *shown =
      weft__shown_by_head(weft__load((const int32_t *)at));
  return shown == NULL ? EINVAL : weft_inspect_as(at, shown->kind, out);
}

WEFT__END

#endif

#endif /* WEFT_INSPECT_H */
