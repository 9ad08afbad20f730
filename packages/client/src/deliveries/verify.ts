/** Verifies that a delivery comes from the node. */
import { argumentError } from "../api/request.ts";
import { type Delivery, readDelivery } from "./delivery.ts";
import { DeliveryError } from "./error.ts";
import { type DeliveryHeaders, headerOf, optionalHeaderOf } from "./headers.ts";

export type ReceivedDelivery = {
  readonly headers: DeliveryHeaders;
  /** Exactly as it was received: a body that was parsed and serialized again has other bytes. */
  readonly body: string | Uint8Array | ArrayBuffer;
};

/**
 * A delivery, and its position among those of the sender. The position is not signed, and it is not part of the body, which is
 * the same whenever a delivery is sent. A ping on request has none.
 */
export type VerifiedDelivery = Delivery & {
  /**
   * Grows by one with each delivery of the webhook: a gap is a delivery that is retried or has failed. A sender that was
   * restored from an older copy of its data uses sequences again, with a higher epoch.
   */
  readonly sequence?: number;
  /** Milliseconds since 1970 at which the sender began, or higher; each sender has a higher one: see `createEpochFence`. */
  readonly epoch?: number;
};

export type VerifyOptions = {
  /**
   * The `token` that the node returned when the webhook was created or its secret rotated, or the same as
   * `whsec_...`; several while the receiver changes from one secret to another.
   */
  readonly secret: string | readonly string[];
  /**
   * `signature` proves the sender, the body and the time. `authorization` compares the first half of the secret alone, as
   * receivers of the old network do: a party that has seen one delivery can imitate all others.
   * Default: `signature`.
   */
  readonly scheme?: "signature" | "authorization";
  /** Maximum difference between the time of signing and now, in either direction. Default: 300,000, five minutes. */
  readonly toleranceMs?: number;
  /** The clock, milliseconds since 1970. Default: `Date.now`. */
  readonly nowMs?: () => number;
};

const TOLERANCE_MS = 5 * 60 * 1_000;
const encoder = new TextEncoder();

/**
 * The delivery, once it is proven to come from the node.
 *
 * @throws {DeliveryError} when the delivery must be refused; `code` is the reason
 * @throws {TypeError} when the receiver itself is wrong: a malformed secret, or a body that is not raw
 */
export async function verifyDelivery(
  { headers, body }: ReceivedDelivery,
  { secret, scheme = "signature", toleranceMs = TOLERANCE_MS, nowMs = Date.now }: VerifyOptions,
): Promise<VerifiedDelivery> {
  const secrets = [secret].flat().map(readSecret);
  const bytes = readBody(body);
  if (scheme === "signature") {
    const timestamp = await checkSignature(headers, bytes, secrets);
    checkAge(nowMs() - Number(timestamp) * 1_000, toleranceMs);
  } else {
    checkAuthorization(headers, secrets);
  }
  const delivery = readDelivery(new TextDecoder().decode(bytes));
  return { ...delivery, ...readInteger(headers, "sequence"), ...readInteger(headers, "epoch") };
}

/** Returns the value of the header as a member; none if the header is missing or not an integer. */
function readInteger(
  headers: DeliveryHeaders,
  name: "sequence" | "epoch",
): Pick<VerifiedDelivery, typeof name> {
  const value = optionalHeaderOf(headers, `webhook-${name}`);
  return value !== undefined && /^\d{1,15}$/.test(value) ? { [name]: Number(value) } : {};
}

/** Returns the signed time, in seconds. */
async function checkSignature(
  headers: DeliveryHeaders,
  body: Uint8Array,
  secrets: readonly Secret[],
): Promise<string> {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  ) as [string, string, string];
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new DeliveryError(
      { code: "DELIVERY_TIMESTAMP_INVALID", timestamp },
      'the header "webhook-timestamp" must be an integer of seconds',
    );
  }
  const message = joined(encoder.encode(`${id}.${timestamp}.`), body);
  const keys = secrets.map(({ key }) => key);
  if (!(await isSigned(message, signatures, keys))) {
    throw new DeliveryError(
      { code: "DELIVERY_SIGNATURE_WRONG" },
      "no signature matches: check the secret of this webhook, and pass the unparsed body",
    );
  }
  return timestamp;
}

/** Checked after the signature: an error about the age then concerns a real delivery. */
function checkAge(ageMs: number, toleranceMs: number): void {
  if (Math.abs(ageMs) <= toleranceMs) return;
  const code = ageMs > 0 ? "DELIVERY_TOO_OLD" : "DELIVERY_TOO_NEW";
  const seconds = Math.round(Math.abs(ageMs) / 1_000);
  throw new DeliveryError(
    { code, ageMs, toleranceMs },
    `signed ${seconds} s ${ageMs > 0 ? "ago" : "in the future"}; the limit is ${toleranceMs / 1_000} s`,
  );
}

function checkAuthorization(headers: DeliveryHeaders, secrets: readonly Secret[]): void {
  const given = headerOf(headers, "authorization");
  if (secrets.some(({ half }) => isEqual(given, half))) return;
  throw new DeliveryError(
    { code: "DELIVERY_AUTHORIZATION_WRONG" },
    'the header "authorization" is not the first half of the secret',
  );
}

/** Compares in constant time for texts of one length. */
function isEqual(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index++) {
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  }
  return difference === 0;
}

function readBody(body: unknown): Uint8Array {
  if (typeof body === "string") return encoder.encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  // `instanceof` is false for a buffer of another realm, such as that of a test runner.
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]")
    return new Uint8Array(body as ArrayBuffer);
  throw argumentError("the body must be the raw one, as text or bytes: verify first, parse afterwards");
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

const ALGORITHM = { name: "HMAC", hash: "SHA-256" };
const VERSION = "v1,";

/**
 * Returns true if one of the header's signatures was made with one of the keys. The header lists signatures
 * with spaces between them: while a secret is replaced, one of each secret; signatures of other versions are
 * ignored.
 */
async function isSigned(
  message: Uint8Array<ArrayBuffer>,
  header: string,
  keys: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const signatures = header
    .split(" ")
    .filter((signature) => signature.startsWith(VERSION))
    .map((signature) => bytesOfBase64(signature.slice(VERSION.length)));
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey("raw", bytes, ALGORITHM, false, ["verify"]);
    for (const signature of signatures) {
      // In constant time.
      if (signature && (await crypto.subtle.verify(ALGORITHM, key, signature, message))) return true;
    }
  }
  return false;
}

type Secret = {
  /** Key of the signatures. */
  readonly key: Uint8Array<ArrayBuffer>;
  /** Value of `Authorization`: the first half of the secret's 64 digits (webhooks.md 7.2). */
  readonly half: string;
};

const SECRET_BYTES = 32;

/**
 * Reads `64 hexadecimal digits`, or `whsec_` and the base64 of the same 32 bytes.
 *
 * @throws {TypeError} for anything else; the message does not contain it
 */
function readSecret(text: unknown): Secret {
  const key = typeof text === "string" ? (fromHex(text) ?? fromBase64(text)) : undefined;
  if (key?.length !== SECRET_BYTES) {
    throw argumentError(
      "the secret must be the 64 hexadecimal digits that the node returned as token, or whsec_ and their bytes in base64",
    );
  }
  const digits = Array.from(key, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { key, half: digits.slice(0, SECRET_BYTES) };
}

function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[0-9a-f]{64}$/i.test(text)) return undefined;
  return Uint8Array.from({ length: SECRET_BYTES }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  );
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  return base64 === undefined ? undefined : bytesOfBase64(base64);
}

/** Returns undefined for invalid base64. */
function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
