/** Authentication of deliveries by receivers: Standard Webhooks 1.0, and the scheme of the old network. */
import { createHmac, timingSafeEqual } from "node:crypto";

export type Received = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Verification of the specification: `secret` is `whsec_` and base64; the header contains signatures
 * separated by spaces, each with its version; one that matches suffices.
 */
export function isVerified(secret: string, { headers, body }: Received, nowMs: number): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (id === undefined || timestamp === undefined || signatures === undefined) return false;
  if (!/^\d+$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = Buffer.from(
    createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64"),
  );
  return signatures.split(" ").some((versioned) => {
    const [version, signature = ""] = versioned.split(",");
    const given = Buffer.from(signature);
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Secret for Standard Webhooks libraries, from a token of the register. */
export const secretOf = (token: string): string => `whsec_${Buffer.from(token, "hex").toString("base64")}`;

/** Verification of receivers of the old network (webhooks.md 7.2). */
export const isVerifiedAsOfOld = (token: string, { headers }: Received): boolean =>
  `${headers.authorization}${token.slice(32)}` === token;
