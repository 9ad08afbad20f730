/** Signed messages (identities.md 9). The message prefix of the network is not mixed in. */
import { bytesToHex, hexToBytes, utf8ToBytes } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import { signEcdsa, verifyEcdsa } from "../crypto/signatures.ts";
import type { KeyPair } from "./keys.ts";

/** All members but the text are hexadecimal; the signature is DER. */
export type SignedMessage = { publicKey: string; signature: string; message: string };

/** Signature of the SHA-256 of the UTF-8 text. */
export const signMessage = (message: string, keys: KeyPair): SignedMessage => ({
  publicKey: bytesToHex(keys.publicKey),
  signature: bytesToHex(signEcdsa(sha256(utf8ToBytes(message)), keys.privateKey)),
  message,
});

/** Returns true if the signature is valid; malformed hexadecimal or DER is not. */
export function verifyMessage({ publicKey, signature, message }: SignedMessage): boolean {
  try {
    return verifyEcdsa(sha256(utf8ToBytes(message)), hexToBytes(signature), hexToBytes(publicKey));
  } catch {
    return false;
  }
}
