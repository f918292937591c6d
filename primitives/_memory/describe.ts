/**
 * Names a value in an error message: `50n`, `"50"`, `[object Array]`. It calls
 * no method of the value. Only a hostile value makes it throw: one whose tag is
 * a getter that throws, or a revoked proxy.
 */
export function describe(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "bigint":
      return `${value}n`;
    case "function":
      return "a function";
    case "object":
      if (value !== null) return Object.prototype.toString.call(value);
  }
  return Object.is(value, -0) ? "-0" : String(value);
}
