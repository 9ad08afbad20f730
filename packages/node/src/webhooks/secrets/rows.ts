/** Rows with the secrets of a webhook, as the cipher encrypts them. */
import type { Secrets } from "../model/webhook.ts";
import type { SecretCipher } from "./encryption.ts";

export type SecretRow = {
  token: string;
  previous_token: string | null;
  /** Milliseconds; PostgreSQL returns decimal text. */
  previous_until_ms: number | string | null;
};

/** Returns the name of the owner of a secret, for the cipher. */
export const ownerOf = (webhook: number): string => `webhook ${webhook}`;

/** @throws {EncryptionError} */
export const secretsFromRow = (
  webhook: number,
  { token, previous_token, previous_until_ms }: SecretRow,
  cipher: SecretCipher,
): Secrets => ({
  token: cipher.decrypt(token, ownerOf(webhook)),
  ...(previous_token !== null && {
    previous: {
      token: cipher.decrypt(previous_token, ownerOf(webhook)),
      untilMs: Number(previous_until_ms ?? 0),
    },
  }),
});
