/**
 * Names a value in an error message: `50n`, `"50"`, `[object Array]`. It never
 * throws, and calls no method of the value.
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
      if (value === null) break;
      try {
        return Object.prototype.toString.call(value);
      } catch {
        return "[object]"; // its tag is a getter that throws, or it is a proxy
      }
  }
  return Object.is(value, -0) ? "-0" : String(value);
}
