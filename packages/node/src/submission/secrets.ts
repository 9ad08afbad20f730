/** Passphrases: from a file, from the environment, or from who sits at the terminal. Never from the command line. */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type KeyPair, keysFromPassphrase } from "@uniknode/protocol";
import { ConfigError } from "../platform/config-error.ts";

/** Where a passphrase may stand. */
export type SecretSource = {
  /** What it is called: `passphrase`, `second passphrase`. */
  readonly name: string;
  /** Path of a file whose first line it is; `-` is standard input. */
  readonly file?: string | undefined;
  /** Name of the environment variable. */
  readonly variable: string;
  /** The flag that names the file, for the message. */
  readonly flag: string;
};

/**
 * Keys of a passphrase, which is taken as it is but for the end of its line.
 *
 * @throws {ConfigError} when there is none, and nobody to ask
 */
export async function readKeys(source: SecretSource): Promise<KeyPair> {
  return keysFromPassphrase(await readSecret(source));
}

async function readSecret({ name, file, variable, flag }: SecretSource): Promise<string> {
  if (file !== undefined) return nonEmpty(readFirstLine(file, flag), `the first line of ${file}`);
  const given = process.env[variable];
  if (given !== undefined) return nonEmpty(given, variable);
  if (process.stdin.isTTY && process.stderr.isTTY) return nonEmpty(await ask(name), `the ${name}`);
  throw new ConfigError(`no ${name}: give ${flag} FILE, or set ${variable}, or start it at a terminal`);
}

function readFirstLine(path: string, flag: string): string {
  try {
    const [line = ""] = readFileSync(path === "-" ? 0 : path, "utf8").split(/\r?\n/, 1);
    return line;
  } catch (error) {
    throw new ConfigError(`${flag} ${path} cannot be read: ${(error as Error).message}`);
  }
}

function nonEmpty(text: string, place: string): string {
  if (text === "") throw new ConfigError(`${place} is empty; a passphrase is expected`);
  return text;
}

/** Shows nothing of what is typed. */
async function ask(name: string): Promise<string> {
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
