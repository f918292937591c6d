/**
 * What a module exports, as it is served.
 *
 * @module
 */

type Exports = Readonly<Record<string, unknown>>;

/**
 * After how many milliseconds the exports are looked for in another way, too.
 */
const LATE = 100;

/**
 * Imports a module. What it exports is in an array, because `import` and
 * `await` take an object that has a function `then` for a promise: if a module
 * exports that name, its `import` may never end.
 */
export function load(url: string): Promise<readonly [object]> {
  return new Promise((resolve, reject) => {
    const take = (exports: Exports) => {
      clearTimeout(late);
      resolve([served(exports)]);
    };
    const look = () => {
      // A static import does not ask for `then`.
      const code = `import * as all from ${JSON.stringify(url)};` +
        "export const box = [all];";
      // In plain text, Bun would take what follows a dot for a file's ending.
      const inData = `data:text/javascript;base64,${btoa(code)}`;
      // If it fails, the other import tells why.
      import(/* webpackIgnore: true */ /* @vite-ignore */ inData)
        .then(({ box }) => take(box[0]), () => {});
    };
    const late = setTimeout(look, LATE);
    // Bundlers would warn that they do not know what this imports.
    import(/* webpackIgnore: true */ /* @vite-ignore */ url).then(
      // Its `then` may have resolved it to something else.
      (exports) => isModule(exports) ? take(exports) : undefined,
      (error) => {
        clearTimeout(late);
        reject(error);
      },
    );
  });
}

const isModule = (exports: unknown): exports is Exports =>
  Object.prototype.toString.call(exports) === "[object Module]";

/** Names that Node adds to those that it finds in a CommonJS module. */
const ADDED = ["default", "module.exports"];

/**
 * What is served of a module. Of a CommonJS module, Node finds `default`, which
 * is `module.exports`, but only some of the names in it.
 */
function served(module: Exports): object {
  const all = module.default as Exports;
  if (typeof all !== "object" || all === null) return module;
  const isCommon = Object.keys(module).every((name) =>
    ADDED.includes(name) || module[name] === all[name]
  );
  if (!isCommon) return module;
  // A compiled module has a `default` of its own.
  return "__esModule" in all ? all : { ...all, default: all };
}
