/** Definition of an option: its names, its help text, and the readers of values. */
import { isIP } from "node:net";
import { createRangeTest } from "../platform/addresses.ts";
import { FILE_BOUNDS, parseExternal } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";

/** Value of an option after reading. */
export type OptionValue = string | number | boolean | readonly string[];

export type Option<V extends OptionValue = OptionValue> = {
  /** Name in the configuration file; the flag is the same in kebab case, the variable in upper snake case. */
  readonly name: string;
  /** Placeholder of the value in help texts; absent for switches. */
  readonly placeholder?: string;
  /** One sentence with the unit. */
  readonly sentence: string;
  readonly default?: V;
  /** Masked when the configuration is printed or logged. */
  readonly secret?: true;
  /** Only the environment and the file set the option: other users of the machine can read flags in the process list. */
  readonly hasNoFlag?: true;
  /** The flag may be given several times; `read` gets the list of all values. */
  readonly isRepeatable?: true;
  /** Name of the environment variable, if it is not derived from the name. */
  readonly variable?: string;
  /** Environment variables of the old node, read when the variable above is not set (operations.md 3 and 9). */
  readonly oldVariables?: readonly string[];
  /** Value of the option for any text in `oldVariables`: the old node treated every text as true, even `false` and `0`. */
  readonly oldMeaning?: string;
  /**
   * Reads a text of the command line or the environment, or a JSON value of the file.
   *
   * @throws {Error} with a message that names the expected value
   */
  readonly read: ((value: unknown) => V) & {
    /** Accepted values. */
    readonly choices?: readonly string[];
  };
};

/**
 * Names the options of a table by their keys. Keeps the exact types of the definitions: whether an option has a default, and the
 * type of its value.
 */
export const optionTable = <T extends Readonly<Record<string, Omit<Option, "name">>>>(definitions: T) =>
  Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name, { ...definition, name }]),
  ) as { readonly [Name in keyof T]: T[Name] & Pick<Option, "name"> };

export const toFlag = (option: Option): string =>
  `--${option.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export const toVariable = (option: Option): string =>
  option.variable ?? `UNIKNODE_${option.name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Reads a string that has more than spaces. */
export function readText(value: unknown): string {
  if (typeof value !== "string" || value.trim() === "") throw new Error("a non-empty string is expected");
  return value;
}

/** Reads a string or a list of strings. */
export function readTexts(value: unknown): readonly string[] {
  const texts = Array.isArray(value) ? value : [value];
  return texts.map(readText);
}

/** Reads texts separated by commas, or a JSON list of texts. */
export function readList(value: unknown): readonly string[] {
  const list = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(list) || !list.every((item) => typeof item === "string")) {
    throw new Error("a list separated by commas is expected");
  }
  return list.map((item: string) => item.trim()).filter((item) => item !== "");
}

/** Reads a token that fits into an HTTP header, which drops leading and trailing spaces. */
export function readToken(value: unknown): string {
  const text = readText(value);
  // Clients send other characters in different encodings.
  if (!/^[!-~]([ -~]*[!-~])?$/.test(text)) {
    throw new Error(
      "a token of printable ASCII characters is expected, without line breaks and without leading or trailing spaces",
    );
  }
  return text;
}

/** Reads host names and IP addresses, without ports. */
export function readHosts(value: unknown): readonly string[] {
  const hosts = readList(value);
  const other = hosts.find((host) => isIP(host) === 0 && !/^[\w-]+(\.[\w-]+)*$/.test(host));
  if (other !== undefined) throw new Error(`host names and IP addresses are expected; "${other}" is neither`);
  return hosts;
}

/** Reads the base URL of a node. */
export function readNodeUrl(value: unknown): string {
  const text = readText(value);
  const url = /^https?:/.test(text) ? URL.parse(text) : null;
  // Requests would not contain these parts.
  if (!url || url.username || url.password || url.search || url.hash) {
    throw new Error("a base URL such as http://127.0.0.1:4003 is expected, without user, query and fragment");
  }
  return text;
}

/** Reads the URL of a PostgreSQL database. */
export function readDatabaseUrl(value: unknown): string {
  const text = readText(value);
  // A URL with a user, but without a host, has the folder of a socket: postgres://user@/database?host=/run/postgresql.
  const url = text.replace("@/", "@socket/");
  if (!URL.canParse(url) || !/^postgres(ql)?:$/.test(new URL(url).protocol)) {
    throw new Error("a URL such as postgres://user:password@127.0.0.1:5432/uniknode is expected");
  }
  return text;
}

const MAX_NODE_URLS = 16;

/** Reads base URLs of nodes. */
export function readNodeUrls(value: unknown): readonly string[] {
  const urls = readList(value).map(readNodeUrl);
  if (urls.length > MAX_NODE_URLS) throw new Error(`at most ${MAX_NODE_URLS} URLs are expected`);
  return urls;
}

/** Checks a list of addresses and networks (see `createRangeTest`), and returns it unchanged. */
export function readRanges(value: unknown): string {
  const text = readText(value);
  createRangeTest(text);
  return text;
}

/** Reads `true` or `false`, as a boolean or a string. */
export function readSwitch(value: unknown): boolean {
  if (value === true || value === "true" || value === "1") return true;
  if (value === false || value === "false" || value === "0") return false;
  throw new Error("true or false is expected");
}

/** Creates a reader of integers between two inclusive bounds. */
export const readInteger =
  (minimum: number, maximum: number) =>
  (value: unknown): number => {
    const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isInteger(number) || number < minimum || number > maximum) {
      throw new Error(`an integer from ${minimum} to ${maximum} is expected`);
    }
    return number;
  };

/** Creates a reader that accepts one of the given words. */
export const readChoice = <C extends string>(...choices: readonly C[]) =>
  Object.assign(
    (value: unknown): C => {
      const choice = choices.find((candidate) => candidate === value);
      if (choice === undefined) throw new Error(`one of ${choices.join(", ")} is expected`);
      return choice;
    },
    { choices },
  );

const TEXTS = formOf(Type.Array(Type.String()));

/** Reads passphrases separated by commas. In double quotes, as in containers of the old node, one may contain commas. */
export function readSecretList(value: unknown): readonly string[] {
  const text = readText(value).trim();
  const secrets = text.startsWith('"') ? readQuoted(text) : text.split(",").map((secret) => secret.trim());
  // Everyone knows the key of an empty passphrase.
  if (secrets.some((secret) => secret.trim() === "")) throw new Error("one of the passphrases is empty");
  return secrets;
}

function readQuoted(text: string): string[] {
  try {
    return parseExternal(`[${text}]`, TEXTS, FILE_BOUNDS);
  } catch {
    throw new Error('strings in double quotes, separated by commas, are expected: "one","two"');
  }
}
