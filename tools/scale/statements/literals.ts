/** Finds the texts in TypeScript: strings and templates, those within the expressions of templates included. */

/** Stands for an expression in a template. */
export const EXPRESSION = "...";

/** Returns the texts of a source, in the order of their ends. */
export function literalsIn(source: string): string[] {
  const found: string[] = [];
  readCode(source, 0, found);
  return found;
}

/** Reads up to the bracket that closes an expression, or to the end of the source; returns the position after it. */
function readCode(source: string, start: number, found: string[]): number {
  let depth = 0;
  for (let at = start; at < source.length; ) {
    const character = source[at];
    if (source.startsWith("//", at)) at = endOf(source, "\n", at);
    else if (source.startsWith("/*", at)) at = endOf(source, "*/", at);
    else if (character === '"' || character === "'") at = readString(source, at, found);
    else if (character === "`") at = readTemplate(source, at + 1, found);
    else {
      if (character === "}" && depth-- === 0) return at + 1;
      if (character === "{") depth++;
      at++;
    }
  }
  return source.length;
}

function endOf(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at === -1 ? source.length : at + mark.length;
}

function readString(source: string, start: number, found: string[]): number {
  let at = start + 1;
  while (at < source.length && source[at] !== source[start] && source[at] !== "\n")
    at += source[at] === "\\" ? 2 : 1;
  found.push(source.slice(start + 1, at));
  return at + 1;
}

function readTemplate(source: string, start: number, found: string[]): number {
  let text = "";
  for (let at = start; at < source.length; ) {
    if (source[at] === "`") {
      found.push(text);
      return at + 1;
    }
    if (source.startsWith("${", at)) {
      at = readCode(source, at + 2, found);
      text += EXPRESSION;
      continue;
    }
    const length = source[at] === "\\" ? 2 : 1;
    text += source.slice(at, at + length);
    at += length;
  }
  return source.length;
}
