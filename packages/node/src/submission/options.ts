/** Options that name passphrases, of which none may stand on the command line: everybody sees the process table. */
import type { KeyPair } from "@uniknode/protocol";
import { type Option, readText } from "../config/option.ts";
import type { Config } from "../config/resolve.ts";
import { readKeys } from "./secrets.ts";

const fileOf = (name: string, what: string, variable: string) =>
  ({
    name,
    placeholder: "FILE",
    sentence: `File whose first line is the ${what}; - is standard input. Without it, the environment variable ${variable} counts, or the terminal asks.`,
    read: readText,
  }) satisfies Option<string>;

export const passphraseOptions = {
  passphraseFile: fileOf("passphraseFile", "passphrase", "UNIKNODE_PASSPHRASE"),
};

export const secondPassphraseOptions = {
  secondPassphraseFile: fileOf(
    "secondPassphraseFile",
    "second passphrase, for wallets that have one",
    "UNIKNODE_SECOND_PASSPHRASE",
  ),
};

export const factoryPassphraseOptions = {
  factoryPassphraseFile: fileOf(
    "factoryPassphraseFile",
    "passphrase of the factory",
    "UNIKNODE_FACTORY_PASSPHRASE",
  ),
};

/** @throws {ConfigError} when there is none, and nobody to ask */
export const readPassphrase = ({ passphraseFile }: Config<typeof passphraseOptions>): Promise<KeyPair> =>
  readKeys({
    name: "passphrase",
    file: passphraseFile,
    variable: "UNIKNODE_PASSPHRASE",
    flag: "--passphrase-file",
  });

/** @throws {ConfigError} when there is none, and nobody to ask */
export const readSecondPassphrase = ({
  secondPassphraseFile,
}: Config<typeof secondPassphraseOptions>): Promise<KeyPair> =>
  readKeys({
    name: "second passphrase",
    file: secondPassphraseFile,
    variable: "UNIKNODE_SECOND_PASSPHRASE",
    flag: "--second-passphrase-file",
  });

/** @throws {ConfigError} when there is none, and nobody to ask */
export const readFactoryPassphrase = ({
  factoryPassphraseFile,
}: Config<typeof factoryPassphraseOptions>): Promise<KeyPair> =>
  readKeys({
    name: "passphrase of the factory",
    file: factoryPassphraseFile,
    variable: "UNIKNODE_FACTORY_PASSPHRASE",
    flag: "--factory-passphrase-file",
  });
