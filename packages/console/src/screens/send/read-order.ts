/** Parses the input of the send forms. */
import { readAmount } from "../../signing/amount.ts";
import type { Order, OrderField } from "../../signing/order.ts";

export type Values = Readonly<Record<string, string>>;
export type Faults = Readonly<Partial<Record<OrderField, string>>>;

/** Chain data for the input. */
export type Known = {
  /** Public key of the delegate that the sender votes for; empty if none, absent while unknown. */
  readonly vote?: string | undefined;
  /** Public key of the typed delegate; absent while unknown. */
  readonly delegate?: string | undefined;
  /** Uniks of the sender; absent while unknown. */
  readonly tokens?: Readonly<Record<string, { readonly type: number }>> | undefined;
};

export type Reading = {
  /** Absent while the input is invalid or incomplete. */
  readonly order?: Order;
  readonly faults: Faults;
};

export type Kind = Order["kind"];

export const isKind = (text: string): text is Kind => Object.hasOwn(READERS, text);

export const readOrder = (kind: Kind, values: Values, known: Known = {}): Reading =>
  READERS[kind](values, known);

const READERS: Readonly<Record<Kind, (values: Values, known: Known) => Reading>> = {
  transfer({ to = "", amount: typed = "", text = "" }) {
    const { amount, fault } = readAmount(typed);
    const faults: Faults = {
      ...(to.trim() === "" && { to: RECIPIENT_EXPECTED }),
      ...(fault !== undefined && { amount: fault }),
    };
    if (to.trim() === "" || amount === undefined) return { faults };
    return { faults, order: { kind: "transfer", recipientId: to.trim(), amount, vendorField: text } };
  },

  vote({ action, delegate: typed = "" }, { vote, delegate }) {
    if (action === "withdraw") {
      if (vote) return { faults: {}, order: { kind: "vote", vote: `-${vote}` } };
      return { faults: vote === "" ? { delegate: "The wallet has no vote to withdraw." } : {} };
    }
    if (vote) return { faults: { delegate: "The wallet has already voted: withdraw that vote first." } };
    if (typed.trim() === "") return { faults: { delegate: "Enter a delegate." } };
    return delegate ? { faults: {}, order: { kind: "vote", vote: `+${delegate}` } } : { faults: {} };
  },

  mint({ unik = "", type = "", properties: typed = "" }) {
    const tokenId = unik.trim();
    const { properties, fault } = readProperties(typed);
    const problem =
      fault ?? (Object.hasOwn(properties, "type") ? "Set the type in its own field." : undefined);
    const faults: Faults = {
      ...(!isId(tokenId) && { unik: ID_EXPECTED }),
      ...(problem !== undefined && { properties: problem }),
    };
    if (Object.keys(faults).length > 0) return { faults };
    return { faults, order: { kind: "mint", tokenId, properties: { type: type || "1", ...properties } } };
  },

  "transfer-unik"({ unik = "", to = "" }) {
    const tokenId = unik.trim();
    const recipientId = to.trim();
    const faults: Faults = {
      ...(recipientId === "" && { to: RECIPIENT_EXPECTED }),
      ...(!isId(tokenId) && { unik: ID_EXPECTED }),
    };
    if (Object.keys(faults).length > 0) return { faults };
    return { faults, order: { kind: "transfer-unik", tokenId, recipientId } };
  },

  update({ unik = "", set: typed = "", remove = "" }) {
    const tokenId = unik.trim();
    const { properties, fault } = readProperties(typed);
    const removed = namesIn(remove);
    const both = removed.find((name) => Object.hasOwn(properties, name));
    const isNothing = Object.keys(properties).length + removed.length === 0;
    const problem =
      fault ??
      (both === undefined ? undefined : `${both} cannot be both set and removed.`) ??
      (isNothing ? "Enter a property to set or to remove." : undefined);
    const faults: Faults = {
      ...(!isId(tokenId) && { unik: ID_EXPECTED }),
      ...(problem !== undefined && { properties: problem }),
    };
    if (Object.keys(faults).length > 0) return { faults };
    const changes = { ...properties, ...Object.fromEntries(removed.map((name) => [name, null] as const)) };
    return { faults, order: { kind: "update", tokenId, properties: changes } };
  },

  disclose({ unik = "", names = "", factory: certifier = "" }, { tokens }) {
    const tokenId = unik.trim();
    const factory = certifier.trim();
    const explicitValues = namesIn(names);
    const type = tokens?.[tokenId]?.type;
    const problem = !isId(tokenId) ? ID_EXPECTED : tokens && type === undefined ? NOT_OWNED : undefined;
    const faults: Faults = {
      ...(problem !== undefined && { unik: problem }),
      ...(explicitValues.length === 0 && { names: "Enter a name." }),
      ...(!isId(factory) && { factory: ID_EXPECTED }),
    };
    if (Object.keys(faults).length > 0 || type === undefined) return { faults };
    return { faults, order: { kind: "disclose", tokenId, explicitValues, type, factory } };
  },
};

const RECIPIENT_EXPECTED = "Enter the recipient's address.";
const ID_EXPECTED = "The id of a unik has 64 digits from 0 to 9 and a to f.";
const NOT_OWNED = "The wallet does not own this unik.";
const isId = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Splits a text at line breaks and commas. */
const namesIn = (text: string): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((name) => name.trim())
    .filter((name) => name !== "");

type Properties = { readonly properties: Readonly<Record<string, string>>; readonly fault?: string };

/** Parses one `name = value` per line, and trims spaces. */
function readProperties(text: string): Properties {
  const pairs = new Map<string, string>();
  for (const line of text.split("\n").filter((line) => line.trim() !== "")) {
    const at = line.indexOf("=");
    const name = line.slice(0, Math.max(at, 0)).trim();
    if (name === "")
      return { properties: {}, fault: `Write name = value, one per line. Invalid line: ${line.trim()}` };
    if (pairs.has(name)) return { properties: {}, fault: `${name} is given twice.` };
    pairs.set(name, line.slice(at + 1).trim());
  }
  return { properties: Object.fromEntries(pairs) };
}

export type TermsReading = {
  /** Fee in the smallest unit; absent for the static fee. */
  readonly fee?: bigint;
  /** Nonce; absent for the next nonce. */
  readonly nonce?: bigint;
  readonly faults: Faults;
};

/** Parses fee and nonce, if given. */
export function readTerms({ fee: typedFee = "", nonce: typedNonce = "" }: Values): TermsReading {
  const fee = typedFee.trim() === "" ? undefined : readAmount(typedFee);
  const nonce = typedNonce.trim();
  const isNonce = /^[1-9]\d{0,15}$/.test(nonce);
  return {
    ...(fee?.amount !== undefined && { fee: fee.amount }),
    ...(isNonce && { nonce: BigInt(nonce) }),
    faults: {
      ...(fee?.fault !== undefined && { fee: fee.fault }),
      ...(nonce !== "" && !isNonce && { nonce: "The nonce must be an integer of at least 1." }),
    },
  };
}
