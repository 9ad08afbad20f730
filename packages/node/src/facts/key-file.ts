/** The key that signs a node's checkpoints: created at its first start and stored in its data folder. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { DataError } from "../store/engine/data-error.ts";

const FILE = "checkpoint.key";
const OWNER_ONLY = 0o600;

/**
 * Returns the key as PEM text.
 *
 * @throws {DataError} DATA_DAMAGED if the file does not contain an Ed25519 key
 */
export function checkpointKeyOf(folder: string): string {
  const path = join(folder, FILE);
  if (!existsSync(path)) {
    const { privateKey } = generateKeyPairSync("ed25519");
    writeWholeFile(path, `${privateKey.export({ type: "pkcs8", format: "pem" })}`, OWNER_ONLY);
  }
  const pem = readFileSync(path, "utf8");
  if (!isKey(pem)) {
    throw new DataError(
      "DATA_DAMAGED",
      `${path} does not contain a valid key for signing checkpoints: restore the file from a backup, or remove it to let the node create a new key`,
    );
  }
  return pem;
}

export const keyOfPem = (pem: string): KeyObject => createPrivateKey(pem);

function isKey(pem: string): boolean {
  try {
    return keyOfPem(pem).asymmetricKeyType === "ed25519";
  } catch {
    return false;
  }
}
