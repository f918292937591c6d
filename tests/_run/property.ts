/**
 * fast-check, as all property tests import it: where a test says the most of
 * something, sequences as long as that are made. Without that, fast-check makes
 * arrays of about ten elements at most, whatever their `maxLength` is.
 *
 * @module
 */
import fc from "fast-check";

fc.configureGlobal({
  includeErrorInReport: true,
  defaultSizeToMaxWhenMaxSpecified: true,
});

export { default } from "fast-check";
