/** Describes the asset of a transaction, which may be any JSON. */
import { unikTypeText } from "../uniks/unik-types.ts";

type Json = Readonly<Record<string, unknown>>;

export type TransactionLike = {
  readonly typeGroup: number;
  readonly type: number;
  readonly sender: string;
  readonly recipient: string;
  readonly asset?: Json | undefined;
};

/** A value with its kind. */
export type Part =
  | { readonly is: "address" | "publicKey" | "transaction" | "unik" | "delegate"; readonly id: string }
  | { readonly is: "amount"; readonly amount: string | number | bigint }
  | { readonly is: "text"; readonly text: string };

export type Detail = readonly [name: string, parts: readonly Part[]];

const text = (value: unknown): Part => ({
  is: "text",
  text: typeof value === "string" ? value : JSON.stringify(value),
});
const object = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const id = (is: "address" | "publicKey" | "transaction" | "unik" | "delegate", value: unknown): Part =>
  typeof value === "string" ? { is, id: value } : text(value);

/** Returns labels and values of the asset; unknown members as JSON. */
export function assetDetails({ asset = {} }: TransactionLike): readonly Detail[] {
  return Object.entries(asset).flatMap(
    ([member, value]) => detailsOf[member]?.(value) ?? [[member, [text(value)]] as const],
  );
}

const detailsOf: Readonly<Record<string, (value: unknown) => readonly Detail[]>> = {
  signature: (value) => [["Second public key", [id("publicKey", object(value).publicKey)]]],
  delegate: (value) => [["Delegate", [id("delegate", object(value).username)]]],
  votes: (value) => list(value).map(voteDetail),
  multiSignature: (value) => {
    const { publicKeys, min } = object(value);
    return [
      ["Members", list(publicKeys).map((key) => id("publicKey", key))],
      ["Required signatures", [text(min)]],
    ];
  },
  ipfs: (value) => [["IPFS", [text(value)]]],
  payments: (value) =>
    list(value).map((payment, index) => {
      const { recipientId, amount } = object(payment);
      return [`Payment ${index + 1}`, [id("address", recipientId), { is: "amount", amount: `${amount}` }]];
    }),
  lock: (value) => {
    const { secretHash, expiration } = object(value);
    const { type, value: at } = object(expiration);
    return [
      ["Hash of the secret", [text(secretHash)]],
      ["Expires", [text(type === 2 ? `at height ${at}` : `${at} s after the epoch of the network`)]],
    ];
  },
  claim: (value) => {
    const { lockTransactionId, unlockSecret } = object(value);
    return [
      ["Lock", [id("transaction", lockTransactionId)]],
      ["Secret", [text(unlockSecret)]],
    ];
  },
  refund: (value) => [["Lock", [id("transaction", object(value).lockTransactionId)]]],
  nft: (value) => {
    const { tokenId, properties } = object(object(value).unik);
    return [["Unik", [id("unik", tokenId)]], ...Object.entries(object(properties)).map(propertyDetail)];
  },
  "disclose-demand": (value) => {
    const { explicitValue, sub } = object(object(value).payload);
    return [
      ["Unik", [id("unik", sub)]],
      ["Names", list(explicitValue).map(text)],
    ];
  },
  "disclose-demand-certification": (value) => [
    ["Certified by", [id("unik", object(object(value).payload).iss)]],
  ],
};

function voteDetail(vote: unknown): Detail {
  const [sign, delegate] = typeof vote === "string" ? [vote[0], vote.slice(1)] : ["", vote];
  return [sign === "-" ? "Withdraws its vote for" : "Votes for", [id("delegate", delegate)]];
}

/** Details of a certified or plain update: null removes a property. */
const propertyDetail = ([key, value]: [string, unknown]): Detail => [
  `Property ${key}`,
  [text(value === null ? "removed" : key === "type" ? unikTypeText(`${value}`) : value)],
];

/** Summary of a transaction for a table cell: the recipient, if any. */
export function subjectOf(transaction: TransactionLike): Detail {
  const { typeGroup, type, recipient, asset = {} } = transaction;
  const payments = list(asset.payments);
  if (payments.length > 0) return ["", [text(`${payments.length} recipients`)]];
  const isPayment = typeGroup === 1 && (type === 0 || type === 8);
  const isUnikTransfer = (typeGroup === 2000 && type === 2) || (typeGroup === 2001 && type === 6);
  if (isPayment || isUnikTransfer) return ["", [{ is: "address", id: recipient }]];
  const [first] = assetDetails(transaction);
  if (!first) return ["", []];
  return first[0] === "Withdraws its vote for" ? ["not", first[1]] : ["", first[1]];
}
