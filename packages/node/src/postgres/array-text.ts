/** Arrays in the text format of PostgreSQL. The driver would quote and escape each element, which costs a tenth of a delivery. */

/** Formats an array; returns undefined if it has elements that are not numbers, booleans, texts or null. */
export function arrayText(values: readonly unknown[]): string | undefined {
  let text = "";
  let separator = "{";
  for (const value of values) {
    text += separator;
    if (typeof value === "string") text += quoted(value);
    else if (value === null) text += "NULL";
    else if (typeof value === "number" || typeof value === "boolean") text += value;
    else return undefined;
    separator = ",";
  }
  return `${text === "" ? "{" : text}}`;
}

const SPECIAL = /["\\]/;

const quoted = (text: string): string =>
  SPECIAL.test(text) ? `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"` : `"${text}"`;
