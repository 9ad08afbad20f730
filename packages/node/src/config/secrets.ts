/** Lists of passphrases in environment variables. */
import { FILE_BOUNDS, parseExternal } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import { readText } from "./define-option.ts";

const TEXTS = formOf(Type.Array(Type.String()));

/** Texts separated by commas. In double quotes, as in containers of the old node, a text may contain commas. */
export function readSecretList(value: unknown): readonly string[] {
  const text = readText(value).trim();
  return text.startsWith('"') ? readQuoted(text) : text.split(",").map((secret) => secret.trim());
}

function readQuoted(text: string): string[] {
  try {
    return parseExternal(`[${text}]`, TEXTS, FILE_BOUNDS);
  } catch {
    throw new Error('strings in double quotes, separated by commas, are expected: "one","two"');
  }
}
