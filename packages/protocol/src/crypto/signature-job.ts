/** The check of one signature, as a value. */

/** A signature to verify: bytes only, so that it can be sent to another thread. */
export type SignatureJob = { hash: Uint8Array; signature: Uint8Array; publicKey: Uint8Array };

/** `unreadable`: the DER cannot be read to its end, which ends the check of a block. */
export type SignatureVerdict = "valid" | "invalid" | "unreadable";
