/**
 * Prints axe-core, without the project's configuration: that must not know it.
 *
 * @module
 */

// Not literal, so that neither the lock file nor `deno check` sees it.
const name = "npm:axe-core@^4";
const { default: axe } = await import(name);
console.log(axe.source);
