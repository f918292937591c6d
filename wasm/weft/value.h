/* value.h - the twin of primitives/value.ts. */
#ifndef WEFT_VALUE_H
#define WEFT_VALUE_H

#include "_value_reader.h"
#include "_value_writer.h"

/*
 * Values in the format of docs/value_format.md, which JavaScript's valueCodec,
 * encodeValue and decodeValue write and read. They are read where they lie:
 *
 *   weft_value_message m;
 *   if (weft_value_open(&m, bytes, length, shapes) != 0) return EINVAL;
 *   weft_value user = weft_value_get(weft_value_root(&m), "user");
 *   int32_t id = weft_value_int(weft_value_get(user, "id"), -1);
 *
 * A function that finds nothing returns no value, and so does each function
 * that is given no value: a program may look only at the last result.
 *
 * They are written part by part:
 *
 *   weft_value_writer w;
 *   weft_value_begin(&w, bytes, room, shapes);
 *   weft_value_write_object(&w, &point); // its shape has the names x and y
 *   weft_value_write_number(&w, 0.5);
 *   weft_value_write_number(&w, 2);
 *   int32_t length = weft_value_end(&w);
 */

#endif /* WEFT_VALUE_H */
