/** One option of the node: where it may stand, what it means, what it must be. */
import { isIP } from "node:net";
import { createRangeTest } from "../platform/addresses/ranges.ts";

/** The value of an option once it is read. */
export type OptionValue = string | number | boolean | readonly string[];

export type Option<V extends OptionValue = OptionValue> = {
  /** Name in the configuration file; the flag is the same in kebab case, the variable in upper snake case. */
  readonly name: string;
  /** Placeholder of the value in help texts; absent for switches. */
  readonly placeholder?: string;
  /** One sentence with the unit. */
  readonly sentence: string;
  readonly default?: V;
  /** Masked wherever the configuration is shown. */
  readonly secret?: true;
  /** Environment and file only: a flag can be read in the table of processes. */
  readonly hasNoFlag?: true;
  /** The flag may be given several times; what is read is the list of all. */
  readonly isRepeatable?: true;
  /** Another environment variable that means the same. */
  readonly variable?: string;
  /** Environment variables by which the old node knew it, read where that one is not set (operations.md 3 and 9). */
  readonly oldVariables?: readonly string[];
  /** What they mean where they are set at all: the old node took any text for yes, `false` and `0` too. */
  readonly oldMeaning?: string;
  /**
   * Reads a text of the command line, the environment or a JSON value of the file.
   *
   * @throws {Error} whose message says what is expected
   */
  readonly read: (value: unknown) => V;
};

/** Keeps what the option says about itself: whether it has a default, and what it reads. */
export const option = <O extends Option>(value: O): O => value;

export const flagOf = (option: Option): string =>
  `--${option.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export const variableOf = (option: Option): string =>
  option.variable ?? `UNIKNODE_${option.name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Any text but the empty one. */
export function readText(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new Error("a text is expected");
  return value;
}

/** Texts, or one. */
export function readTexts(value: unknown): readonly string[] {
  const texts = Array.isArray(value) ? value : [value];
  return texts.map(readText);
}

/** Texts separated by commas, or a JSON list of them. */
export function readList(value: unknown): readonly string[] {
  const list = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(list) || !list.every((item) => typeof item === "string")) {
    throw new Error("a list separated by commas is expected");
  }
  return list.map((item: string) => item.trim()).filter((item) => item !== "");
}

/** Names of hosts and addresses, without ports. */
export function readHosts(value: unknown): readonly string[] {
  const hosts = readList(value);
  const other = hosts.find((host) => isIP(host) === 0 && !/^[\w-]+(\.[\w-]+)*$/.test(host));
  if (other !== undefined) throw new Error(`host names and IP addresses are expected, "${other}" is none`);
  return hosts;
}

/** The base URL of a node. */
export function readNodeUrl(value: unknown): string {
  const text = readText(value);
  if (!URL.canParse(text) || !/^https?:/.test(text)) {
    throw new Error("a base URL such as http://127.0.0.1:4003 is expected");
  }
  return text;
}

/** A list of addresses and networks. */
export function readRanges(value: unknown): string {
  const text = readText(value);
  createRangeTest(text);
  return text;
}

/** A switch: `true` or `false`, as value or as text. */
export function readSwitch(value: unknown): boolean {
  if (value === true || value === "true" || value === "1") return true;
  if (value === false || value === "false" || value === "0") return false;
  throw new Error("true or false is expected");
}

/** An integer between two bounds, both included. */
export const readInteger =
  (minimum: number, maximum: number) =>
  (value: unknown): number => {
    const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isInteger(number) || number < minimum || number > maximum) {
      throw new Error(`an integer from ${minimum} to ${maximum} is expected`);
    }
    return number;
  };

/** One of a few words. */
export const readChoice =
  <C extends string>(...choices: readonly C[]) =>
  (value: unknown): C => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw new Error(`one of ${choices.join(", ")} is expected`);
    return choice;
  };
