/** The secret that the register of webhooks asks for. */
import { randomBytes } from "node:crypto";
import type { MetaStore } from "../store/meta.ts";

/** The token given, or the one that this data folder began with. */
export function webhookTokenOf(given: string | undefined, meta: MetaStore): string {
  if (given !== undefined) return given;
  const known = meta.read("webhookToken");
  if (known !== undefined) return known;
  const made = randomBytes(32).toString("hex");
  meta.write("webhookToken", made);
  return made;
}
