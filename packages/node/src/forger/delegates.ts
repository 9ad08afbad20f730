/** The delegates whose keys this node holds. */
import {
  bytesToHex,
  decryptBip38,
  IdentityError,
  isBip38,
  type KeyPair,
  keysFromPassphrase,
  keysFromPrivateKey,
} from "@uniknode/protocol";
import { ConfigError } from "../platform/coded-error.ts";
import { readJsonFile } from "../platform/json/external.ts";
import { formOf, refined } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";

/** Keys by public key in hexadecimal. */
export type Delegates = ReadonlyMap<string, KeyPair>;

/** Creates the delegates of passphrases, which are trimmed; duplicates count once. */
export function delegatesFromSecrets(secrets: readonly string[]): Delegates {
  const keys = secrets.map((secret) => keysFromPassphrase(secret.trim()));
  return new Map(keys.map((pair) => [bytesToHex(pair.publicKey), pair]));
}

/**
 * Creates the delegates of passphrases and of encrypted keys (BIP38), which the password decrypts (forger.md
 * 1).
 *
 * @throws {ConfigError} when an encrypted key cannot be decrypted
 */
export async function openDelegates(
  secrets: readonly string[],
  password: string | undefined,
): Promise<Delegates> {
  const isEncrypted = (secret: string) => isBip38(secret.trim());
  const passphrases = secrets.filter((secret) => !isEncrypted(secret));
  const encrypted = secrets.filter(isEncrypted);
  const opened = await Promise.all(encrypted.map((secret) => openKeys(secret.trim(), password)));
  return new Map([
    ...delegatesFromSecrets(passphrases),
    ...opened.map((pair): [string, KeyPair] => [bytesToHex(pair.publicKey), pair]),
  ]);
}

async function openKeys(bip38: string, password: string | undefined): Promise<KeyPair> {
  if (password === undefined) {
    throw new ConfigError(
      "a delegate's key is encrypted (BIP38): give its password in UNIKNODE_FORGER_PASSWORD",
    );
  }
  try {
    return keysFromPrivateKey((await decryptBip38(bip38, password)).privateKey);
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    throw new ConfigError(`UNIKNODE_FORGER_PASSWORD does not decrypt any delegate key: ${error.message}`);
  }
}

const MAX_SECRETS = 1_000;
const passphrase = Type.String({ pattern: "\\S", description: "a passphrase" });
const encryptedKey = Type.String({ description: "an encrypted key" });

const Content = Type.Object({
  secrets: Type.Optional(
    Type.Array(passphrase, {
      maxItems: MAX_SECRETS,
      description: `a list of 0 to ${MAX_SECRETS} passphrases`,
    }),
  ),
  bip38: Type.Optional(refined(encryptedKey, (text) => text === "" || isBip38(text as string))),
});
type Content = Static<typeof Content>;

const hasSecret = ({ secrets = [], bip38 = "" }: Content): boolean => secrets.length > 0 || bip38 !== "";

const DELEGATES_FILE = {
  purpose: "delegates file",
  form: formOf(
    refined(
      { ...Content, description: "an object with at least one passphrase or encrypted key" },
      (content) => hasSecret(content as Content),
    ),
  ),
  remedy: 'correct it (its content is like {"secrets": ["..."]}), or name another with --delegates',
};

/**
 * Reads the secrets of a delegates file, `{"secrets": ["...", ...], "bip38": "..."}`; one of the members is enough.
 *
 * @throws {ConfigError} when the file has another form
 */
export function readSecrets(path: string): string[] {
  const { secrets = [], bip38 = "" } = readJsonFile(path, DELEGATES_FILE);
  return [...secrets, ...(bip38 === "" ? [] : [bip38])];
}

/** Secrets of the file and of the environment together; none means that this node does not forge. */
export function secretsOf({
  delegates,
  forgerSecrets = [],
  forgerSecret,
}: {
  readonly delegates: string | undefined;
  readonly forgerSecrets: readonly string[] | undefined;
  readonly forgerSecret: string | undefined;
}): string[] {
  const fromFile = delegates === undefined ? [] : readSecrets(delegates);
  return [...fromFile, ...forgerSecrets, ...(forgerSecret === undefined ? [] : [forgerSecret])];
}
