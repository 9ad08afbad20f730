/** Errors of keys, addresses and secrets. */

export type IdentityErrorCode =
  /** The text of a public key is not 66 hexadecimal digits. */
  | "PublicKeyError"
  /** The number of required signatures does not fit the keys (identities.md 5). */
  | "InvalidMultiSignatureAssetError"
  /** The bytes are not a point of the curve, or a sum has no finite point. */
  | "INVALID_POINT"
  /** A private key is not 32 bytes, zero, or not below the order of the group. */
  | "INVALID_PRIVATE_KEY"
  /** An address version byte is not 1 to 255. */
  | "INVALID_ADDRESS_VERSION"
  /** A WIF does not decode, has a wrong length, or belongs to another network. */
  | "INVALID_WIF"
  /** A text is not of the structure of BIP38. */
  | "INVALID_BIP38"
  /** The password does not open a BIP38 text. */
  | "WRONG_PASSWORD"
  /** A mnemonic has not 12, 15, 18, 21 or 24 words. */
  | "INVALID_MNEMONIC";

/** A retry with the same input fails again. The message never contains the secret. */
export class IdentityError extends Error {
  readonly code: IdentityErrorCode;
  readonly isRetryable = false;

  constructor(code: IdentityErrorCode, message: string) {
    super(message);
    this.name = "IdentityError";
    this.code = code;
  }
}
