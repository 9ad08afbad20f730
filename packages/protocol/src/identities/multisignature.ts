/** Identity of a multi-signature wallet (identities.md 5). */
import { bytesToHex, hexToBytes } from "../crypto/bytes.ts";
import { addPublicKeys } from "../crypto/points.ts";
import { IdentityError } from "./error.ts";
import { isPublicKeyText, keysFromPassphrase } from "./keys.ts";

/** Signatures required, and the keys of the participants in hexadecimal of either letter case. */
export type Participants = { min: number; publicKeys: readonly string[] };

/**
 * Public key of the wallet: 66 lower-case hexadecimal digits, without a known private key. It depends on
 * neither order nor letter case; a repeated key counts twice.
 *
 * @throws {IdentityError} PublicKeyError, InvalidMultiSignatureAssetError, INVALID_POINT
 */
export function multiSignaturePublicKey({ min, publicKeys }: Participants): string {
  // Step 1: the form of every key.
  if (!publicKeys.every(isPublicKeyText)) {
    throw new IdentityError(
      "PublicKeyError",
      "the public key of a participant must be 66 hexadecimal digits",
    );
  }
  // Step 2; step 3 leaves two hexadecimal digits for the number.
  if (!Number.isInteger(min) || min < 1 || min > publicKeys.length || min > 0xff) {
    throw new IdentityError(
      "InvalidMultiSignatureAssetError",
      `the required signatures must be 1 to ${Math.min(publicKeys.length, 0xff)}, not ${min}`,
    );
  }
  // Step 3: the number in two lower-case hexadecimal digits is the passphrase of P0.
  const first = keysFromPassphrase(min.toString(16).padStart(2, "0")).publicKey;
  // Steps 4 and 5: P0 + P1 + ... + Pk.
  const sum = addPublicKeys([first, ...publicKeys.map(hexToBytes)]);
  if (!sum) {
    throw new IdentityError("INVALID_POINT", "the keys of the participants have no sum on the curve");
  }
  return bytesToHex(sum);
}
