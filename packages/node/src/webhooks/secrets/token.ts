/** The secret that the register of webhooks asks for. */
import { randomBytes } from "node:crypto";
import type { MetaStore } from "../../store/node/meta.ts";
import type { SecretCipher } from "../../store/webhooks/encryption.ts";
import { REGISTER } from "../../store/webhooks/secrets.ts";

/** The token given, or the one that this data folder began with. */
export function webhookTokenOf(given: string | undefined, meta: MetaStore, cipher: SecretCipher): string {
  if (given !== undefined) return given;
  const known = meta.read("webhookToken");
  if (known !== undefined) return cipher.decrypt(known, REGISTER);
  const made = randomBytes(32).toString("hex");
  meta.write("webhookToken", cipher.encrypt(made, REGISTER));
  return made;
}
