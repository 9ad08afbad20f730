/** Passphrases: the options that name their files, and how they are read. No passphrase is a flag: other users can read flags in the process list. */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { type KeyPair, keysFromPassphrase, passphraseMistake } from "@uniknode/protocol";
import { optionTable, readText } from "../config/define-option.ts";
import type { Config } from "../config/resolve.ts";
import { ConfigError } from "../platform/coded-error.ts";

const fileOf = (what: string, variable: string) => ({
  placeholder: "FILE",
  sentence: `File whose first line is the ${what}; - reads standard input. Default: environment variable ${variable}, or a prompt on the terminal.`,
  read: readText,
});

export const passphraseOptions = optionTable({
  passphraseFile: fileOf("passphrase", "UNIKNODE_PASSPHRASE"),
});

export const secondPassphraseOptions = optionTable({
  secondPassphraseFile: fileOf("second passphrase, for wallets that have one", "UNIKNODE_SECOND_PASSPHRASE"),
});

export const factoryPassphraseOptions = optionTable({
  factoryPassphraseFile: fileOf("passphrase of the factory", "UNIKNODE_FACTORY_PASSPHRASE"),
});

/** @throws {ConfigError} when there is no passphrase, and no terminal to prompt */
export const readPassphrase = ({ passphraseFile: file }: Config<typeof passphraseOptions>) =>
  readKeys({ name: "passphrase", file, variable: "UNIKNODE_PASSPHRASE", flag: "--passphrase-file" });

/** @throws {ConfigError} when there is no passphrase, and no terminal to prompt */
export const readSecondPassphrase = ({ secondPassphraseFile }: Config<typeof secondPassphraseOptions>) =>
  readKeys({
    name: "second passphrase",
    file: secondPassphraseFile,
    variable: "UNIKNODE_SECOND_PASSPHRASE",
    flag: "--second-passphrase-file",
  });

/** @throws {ConfigError} when there is no passphrase, and no terminal to prompt */
export const readFactoryPassphrase = ({ factoryPassphraseFile }: Config<typeof factoryPassphraseOptions>) =>
  readKeys({
    name: "passphrase of the factory",
    file: factoryPassphraseFile,
    variable: "UNIKNODE_FACTORY_PASSPHRASE",
    flag: "--factory-passphrase-file",
  });

/** Source of a passphrase. */
type SecretSource = {
  /** Name in messages: `passphrase`, `second passphrase`. */
  readonly name: string;
  /** Path of a file with the passphrase in its first line; `-` is standard input. */
  readonly file?: string | undefined;
  /** Name of the environment variable. */
  readonly variable: string;
  /** The flag that names the file, for the message. */
  readonly flag: string;
};

/**
 * Returns the keys of a passphrase; only the end of its line, and the mark that some editors write at the start of a file, are
 * removed. Warns of blanks at its ends, which are part of it and invisible, and of mistyped words.
 *
 * @throws {ConfigError} if the passphrase is not UTF-8, or if there is none and no terminal to prompt
 */
export async function readKeys(source: SecretSource): Promise<KeyPair> {
  const secret = await readSecret(source);
  const mistake = passphraseMistake(secret, wordlist, source.name);
  if (mistake !== undefined) process.stderr.write(`warning: ${mistake}\n`);
  return keysFromPassphrase(secret);
}

async function readSecret({ name, file, variable, flag }: SecretSource): Promise<string> {
  if (file !== undefined) return nonEmpty(readFirstLine(file, flag), `the first line of ${file}`);
  const given = process.env[variable];
  if (given !== undefined) return nonEmpty(given, variable);
  if (process.stdin.isTTY && process.stderr.isTTY) return nonEmpty(await prompt(name), `the ${name}`);
  throw new ConfigError(`no ${name}: give ${flag} FILE, set ${variable}, or run the command in a terminal`);
}

function readFirstLine(path: string, flag: string): string {
  try {
    // Removes a byte order mark. Without `fatal`, files with different invalid bytes would have one address.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path === "-" ? 0 : path));
    return text.split(/\r?\n/, 1)[0] ?? "";
  } catch (error) {
    const reason = error instanceof TypeError ? "it is not UTF-8" : (error as Error).message;
    throw new ConfigError(
      `${flag} ${path} cannot be read: ${reason}; name a file whose first line is the passphrase`,
    );
  }
}

function nonEmpty(text: string, place: string): string {
  if (text === "") throw new ConfigError(`${place} is empty; expected a passphrase`);
  return text;
}

/** Asks a question on the terminal; false without a terminal. */
export async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/** Prompts without showing the typed text. */
async function prompt(name: string): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true });
  process.stderr.write(`${name}: `);
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
