/** Secrets of webhooks as rows, and the register's own; what is kept of each is the work of a seal. */
import type { Database } from "../engine/database.ts";
import { createMetaStore } from "../node/meta.ts";
import type { Seal } from "./encryption.ts";

export type Secrets = {
  /** 64 hexadecimal digits; the first 32 of them where a register of the old node was all that was left. */
  readonly token: string;
  /** The one before a rotation, honoured until a time in milliseconds since 1970. */
  readonly previous?: { readonly token: string; readonly untilMs: number };
};

/** Tokens are as the seal keeps them. */
export type SecretRow = { token: string; previous_token: string | null; previous_until_ms: number | null };

/** Whose a secret is, to the seal. */
export const ownerOf = (webhook: number): string => `webhook ${webhook}`;
export const REGISTER = "the register of webhooks";

/** @throws {SealError} */
export const secretsFromRow = (
  webhook: number,
  { token, previous_token, previous_until_ms }: SecretRow,
  seal: Seal,
): Secrets => ({
  token: seal.open(token, ownerOf(webhook)),
  ...(previous_token !== null && {
    previous: { token: seal.open(previous_token, ownerOf(webhook)), untilMs: previous_until_ms ?? 0 },
  }),
});

/**
 * Opens every secret of the database with one seal and closes it with another, all or none.
 *
 * @throws {SealError} of the first that does not open; nothing has changed
 */
export function reseal(database: Database, from: Seal, to: Seal): void {
  const write = database.prepare("UPDATE webhooks SET token = ?, previous_token = ? WHERE id = ?");
  const meta = createMetaStore(database);
  database.transaction(() => {
    const { webhooks, register } = openSecrets(database, from);
    for (const [webhook, { token, previous }] of webhooks) {
      const close = (secret: string) => to.close(secret, ownerOf(webhook));
      write.run(close(token), previous === undefined ? null : close(previous.token), webhook);
    }
    if (register !== undefined) meta.write("webhookToken", to.close(register, REGISTER));
  });
}

/**
 * All secrets of the database.
 *
 * @throws {SealError} of the first that does not open
 */
export function openSecrets(database: Database, seal: Seal) {
  const rows = database.prepare<SecretRow & { id: number }>(
    "SELECT id, token, previous_token, previous_until_ms FROM webhooks",
  );
  const kept = createMetaStore(database).read("webhookToken");
  return {
    webhooks: new Map(rows.all().map(({ id, ...row }) => [id, secretsFromRow(id, row, seal)])),
    register: kept === undefined ? undefined : seal.open(kept, REGISTER),
  };
}
