/** The delegates whose keys this node holds. */
import { bytesToHex, type KeyPair, keysFromPassphrase } from "@uniknode/protocol";
import { ConfigError, readJsonObject } from "../config/resolve.ts";

/** Keys by public key in hexadecimal. */
export type Delegates = ReadonlyMap<string, KeyPair>;

/** Delegates of passphrases; these are trimmed, repeated ones count once. */
export function delegatesFromSecrets(secrets: readonly string[]): Delegates {
  const keys = secrets.map((secret) => keysFromPassphrase(secret.trim()));
  return new Map(keys.map((pair) => [bytesToHex(pair.publicKey), pair]));
}

/**
 * Passphrases of a delegates file, `{"secrets": ["...", ...]}`.
 *
 * @throws {ConfigError} when the file has another shape
 */
export function readSecrets(path: string): string[] {
  const { secrets } = readJsonObject(path, "delegates file");
  const isList =
    Array.isArray(secrets) && secrets.every((secret) => typeof secret === "string" && secret.trim());
  if (!isList || secrets.length === 0) {
    throw new ConfigError(`"secrets" in delegates file ${path} must be a list of passphrases, at least one`);
  }
  return secrets as string[];
}

/** Passphrases of the file and of the environment together; none means that this node does not forge. */
export function secretsOf({
  delegates,
  forgerSecrets,
}: {
  readonly delegates: string | undefined;
  readonly forgerSecrets: string | undefined;
}): string[] {
  const fromFile = delegates === undefined ? [] : readSecrets(delegates);
  return [...fromFile, ...(forgerSecrets?.split(",") ?? []).map(unquoted)];
}

/** Containers of the old node had each of several passphrases in quotation marks. */
const unquoted = (secret: string): string => /^\s*"(.*)"\s*$/.exec(secret)?.[1] ?? secret;
