/**
 * How the search looks at sections: the same when the index is made, and when
 * it is used.
 *
 * @module
 */

/** The options of MiniSearch. */
export const OPTIONS = {
  fields: ["title", "page", "text"],
  storeFields: ["url", "page", "title"],
};
