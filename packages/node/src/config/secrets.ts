/** Lists of passphrases in environment variables. */
import { readText } from "./define-option.ts";

/** Texts separated by commas. In double quotes, as in containers of the old node, a text may contain commas. */
export function readSecretList(value: unknown): readonly string[] {
  const text = readText(value).trim();
  return text.startsWith('"') ? readQuoted(text) : text.split(",").map((secret) => secret.trim());
}

function readQuoted(text: string): string[] {
  try {
    const list: unknown = JSON.parse(`[${text}]`);
    if (Array.isArray(list) && list.every((secret) => typeof secret === "string")) return list;
  } catch {}
  throw new Error('strings in double quotes, separated by commas, are expected: "one","two"');
}
