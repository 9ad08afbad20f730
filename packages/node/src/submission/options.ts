/** Options that name files with passphrases. No passphrase is a flag: other users can read flags in the process list. */
import type { KeyPair } from "@uniknode/protocol";
import { type Option, readText } from "../config/define-option.ts";
import type { Config } from "../config/resolve.ts";
import { readKeys } from "./secrets.ts";

const fileOf = (name: string, what: string, variable: string) =>
  ({
    name,
    placeholder: "FILE",
    sentence: `File whose first line is the ${what}; - reads standard input. Default: environment variable ${variable}, or a prompt on the terminal.`,
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

/** @throws {ConfigError} when there is no passphrase, and no terminal to prompt */
export const readPassphrase = ({ passphraseFile }: Config<typeof passphraseOptions>): Promise<KeyPair> =>
  readKeys({
    name: "passphrase",
    file: passphraseFile,
    variable: "UNIKNODE_PASSPHRASE",
    flag: "--passphrase-file",
  });

/** @throws {ConfigError} when there is no passphrase, and no terminal to prompt */
export const readSecondPassphrase = ({
  secondPassphraseFile,
}: Config<typeof secondPassphraseOptions>): Promise<KeyPair> =>
  readKeys({
    name: "second passphrase",
    file: secondPassphraseFile,
    variable: "UNIKNODE_SECOND_PASSPHRASE",
    flag: "--second-passphrase-file",
  });

/** @throws {ConfigError} when there is no passphrase, and no terminal to prompt */
export const readFactoryPassphrase = ({
  factoryPassphraseFile,
}: Config<typeof factoryPassphraseOptions>): Promise<KeyPair> =>
  readKeys({
    name: "passphrase of the factory",
    file: factoryPassphraseFile,
    variable: "UNIKNODE_FACTORY_PASSPHRASE",
    flag: "--factory-passphrase-file",
  });
