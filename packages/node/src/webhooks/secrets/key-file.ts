/** Reads the operator's key file. */
import { readFileSync } from "node:fs";
import { ConfigError } from "../../platform/config-error.ts";

/** Minimum length of a key: 16 random bytes in hexadecimal digits. */
const MIN_LENGTH = 32;

/**
 * Returns the trimmed content of the file.
 *
 * @param flag flag that named the file
 * @throws {ConfigError} if the file cannot be read, or is too short for a key
 */
export function readKeyFile(path: string, flag: string): string {
  let content: string;
  try {
    content = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new ConfigError(
      `the key file of ${flag} cannot be read: ${(error as Error).message}; name a file that this user can read`,
    );
  }
  if (content.length >= MIN_LENGTH) return content;
  throw new ConfigError(
    `the key in ${path} (${flag}) must have ${MIN_LENGTH} characters or more; make one with: openssl rand -hex 32`,
  );
}
