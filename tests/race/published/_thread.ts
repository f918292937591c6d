/**
 * A thread that plays a role, round after round.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any
type Any = any;

const port = globalThis as Any;
let role: (code: Any, memory: SharedArrayBuffer) => void;
let code: Any;

port.onmessage = ({ data }: MessageEvent) => {
  if (data.text !== undefined) {
    const module: { exports: Any } = { exports: {} };
    new Function("module", "exports", "require", data.text)(
      module,
      module.exports,
      () => ({}),
    );
    code = module.exports;
    role = new Function(`return ${data.role}`)();
  } else {
    role(code, data.memory);
  }
  port.postMessage("done");
};
