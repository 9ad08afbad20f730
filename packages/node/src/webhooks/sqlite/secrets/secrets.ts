/** Secrets of webhooks and of the register as rows: a cipher encrypts and decrypts them. */
import type { Database } from "../../../store/engine/database.ts";
import { createMetaStore } from "../../../store/node/meta.ts";
import type { SecretCipher } from "../../secrets/encryption.ts";
import { ownerOf, type SecretRow, secretsFromRow } from "../../secrets/rows.ts";

/** Owner of the token of the register, for the cipher. */
export const REGISTER = "the register of webhooks";

/**
 * Decrypts every secret of the database with one cipher and encrypts it with another, all or none.
 *
 * @throws {EncryptionError} for the first secret that cannot be decrypted; nothing has changed
 */
export function reencryptSecrets(database: Database, from: SecretCipher, to: SecretCipher): void {
  const write = database.prepare("UPDATE webhooks SET token = ?, previous_token = ? WHERE id = ?");
  const meta = createMetaStore(database);
  database.transaction(() => {
    const { webhooks, register } = readSecrets(database, from);
    for (const [webhook, { token, previous }] of webhooks) {
      const encrypt = (secret: string) => to.encrypt(secret, ownerOf(webhook));
      write.run(encrypt(token), previous === undefined ? null : encrypt(previous.token), webhook);
    }
    if (register !== undefined) meta.write("webhookToken", to.encrypt(register, REGISTER));
  });
}

/**
 * Reads all secrets of the database.
 *
 * @throws {EncryptionError} for the first secret that cannot be decrypted
 */
export function readSecrets(database: Database, cipher: SecretCipher) {
  const rows = database.prepare<SecretRow & { id: number }>(
    "SELECT id, token, previous_token, previous_until_ms FROM webhooks",
  );
  const kept = createMetaStore(database).read("webhookToken");
  return {
    webhooks: new Map(rows.all().map(({ id, ...row }) => [id, secretsFromRow(id, row, cipher)])),
    register: kept === undefined ? undefined : cipher.decrypt(kept, REGISTER),
  };
}
