/** The token that requests to the register of webhooks require. */
import { randomBytes } from "node:crypto";
import type { MetaStore } from "../../../store/node/meta.ts";
import type { SecretCipher } from "../../secrets/encryption.ts";
import { REGISTER } from "./secrets.ts";

/** Returns the given token, or the token that was generated for this data folder. */
export function webhookTokenOf(given: string | undefined, meta: MetaStore, cipher: SecretCipher): string {
  if (given !== undefined) return given;
  const kept = keptWebhookToken(meta, cipher);
  if (kept !== undefined) return kept;
  const made = randomBytes(32).toString("hex");
  meta.write("webhookToken", cipher.encrypt(made, REGISTER));
  return made;
}

/** Returns the token that was generated for this data folder; undefined before the first start without a given token. */
export function keptWebhookToken(meta: MetaStore, cipher: SecretCipher): string | undefined {
  const kept = meta.read("webhookToken");
  return kept === undefined ? undefined : cipher.decrypt(kept, REGISTER);
}
