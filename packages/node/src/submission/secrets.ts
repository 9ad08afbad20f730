/** Reads passphrases from a file, the environment or the terminal, never from the command line. */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type KeyPair, keysFromPassphrase } from "@uniknode/protocol";
import { ConfigError } from "../platform/config-error.ts";

/** Source of a passphrase. */
export type SecretSource = {
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
 * removed. Warns of blanks at its ends: they are part of it, and invisible.
 *
 * @throws {ConfigError} if the passphrase is not UTF-8, or if there is none and no terminal to prompt
 */
export async function readKeys(source: SecretSource): Promise<KeyPair> {
  const secret = await readSecret(source);
  if (secret.trim() !== secret) {
    process.stderr.write(`warning: the ${source.name} begins or ends with a blank, which is part of it\n`);
  }
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
