/** The secrets of all webhooks, as rows. */
import type { Secrets } from "../model/webhook.ts";
import { ownerOf, type SecretCipher, type SecretRow, secretsFromRow } from "../secrets.ts";
import { given, type Reads, type Sql, type Steps } from "./sql.ts";

/**
 * Reads all secrets, which no other transaction changes until the end of this one.
 *
 * @throws {EncryptionError} for the first secret that cannot be decrypted
 */
export function* readSecrets(sql: Reads, cipher: SecretCipher): Steps<(readonly [number, Secrets])[]> {
  const rows = yield* sql.rows<SecretRow & { id: number }>(
    "SELECT id, token, previous_token, previous_until_ms FROM webhooks ORDER BY id FOR NO KEY UPDATE",
  );
  return rows.map((row) => [row.id, secretsFromRow(row.id, row, cipher)]);
}

/**
 * Decrypts every secret with one cipher, and encrypts it with another.
 *
 * @throws {EncryptionError} for the first secret that cannot be decrypted
 */
export function* reencryptSecrets(sql: Sql, from: SecretCipher, to: SecretCipher): Steps<void> {
  const rows = (yield* readSecrets(sql, from)).map(([id, { token, previous }]) => [
    id,
    to.encrypt(token, ownerOf(id)),
    previous ? to.encrypt(previous.token, ownerOf(id)) : null,
  ]);
  const { table, values } = given(sql.kind, { id: "bigint", token: "text", previous: "text" }, rows);
  yield* sql.change(
    `UPDATE webhooks SET token = given.token, previous_token = given.previous FROM ${table} WHERE webhooks.id = given.id`,
    values,
  );
}
