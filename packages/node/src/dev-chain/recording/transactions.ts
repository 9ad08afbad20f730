/** Converts transactions of the dev chain to steps of a scenario. */
import type { Step } from "@uniknode/client/testing";
import { type Milestone, staticFee, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { KINDS, typeOfKind } from "../network.ts";
import type { RecordedNames } from "./names.ts";

const UNIT_DIGITS = 8;
/** Bounds of the properties of a step (`read.ts` of @uniknode/client/testing). */
const MAX_PROPERTIES = 16;
const MAX_CHARACTERS = 255;

/** Formats an amount in tokens, without trailing zeros. */
export function tokensOf(units: bigint): string {
  const digits = `${units}`.padStart(UNIT_DIGITS + 1, "0");
  return `${digits.slice(0, -UNIT_DIGITS)}.${digits.slice(-UNIT_DIGITS)}`.replace(/\.?0+$/, "");
}

/** Returns the step of a transaction, or undefined if a scenario cannot have it. */
export function transactionStep(
  transaction: Transaction,
  names: RecordedNames,
  milestone: Milestone,
): Step | undefined {
  const from = names.sender(transaction.senderPublicKey);
  if (from === undefined || !isOrdinary(transaction)) return undefined;
  const fee = transaction.fee === staticFee(transaction, milestone) ? {} : { fee: tokensOf(transaction.fee) };
  const { typeGroup, type } = transaction;
  if (typeGroup === TYPE_GROUPS.core && type === 0) return transferStep(transaction, names, { from, ...fee });
  if (typeGroup === TYPE_GROUPS.nft) return unikStep(transaction, names, { from, fee });
  if (typeGroup === TYPE_GROUPS.uns && type === 5) return voteStep(transaction, names, { from, ...fee });
  return undefined;
}

/** Expirations are heights, and second signatures have keys, that the file does not have. */
const isOrdinary = ({ secondSignature, signatures, expiration }: Transaction): boolean =>
  secondSignature === undefined && signatures === undefined && !expiration;

type Sent = { readonly from: string; readonly fee?: string };

function transferStep(
  { recipientId, amount, vendorField }: Transaction,
  names: RecordedNames,
  { from, ...fee }: Sent,
): Step | undefined {
  if (recipientId === undefined) return undefined;
  const message = vendorField ? { message: vendorField } : {};
  return {
    transfer: { from, to: names.recipient(recipientId), amount: tokensOf(amount), ...message, ...fee },
  };
}

function voteStep({ asset }: Transaction, names: RecordedNames, sent: Sent): Step | undefined {
  const [vote, ...others] = asset?.votes ?? [];
  const delegate = vote === undefined ? undefined : names.delegate(vote.slice(1));
  if (vote === undefined || delegate === undefined || others.length > 0) return undefined;
  return vote.startsWith("+") ? { vote: { ...sent, delegate } } : { unvote: { ...sent, delegate } };
}

const isBounded = (properties: Readonly<Record<string, string | null>>): boolean =>
  Object.keys(properties).length <= MAX_PROPERTIES &&
  Object.entries(properties)
    .flat()
    .every((text) => text === null || (text !== "" && text.length <= MAX_CHARACTERS));

function unikStep(
  { type, asset, recipientId }: Transaction,
  names: RecordedNames,
  { from, fee }: { readonly from: string; readonly fee: { readonly fee?: string } },
): Step | undefined {
  const { tokenId, properties = {} } = asset?.nft?.unik ?? {};
  if (tokenId === undefined || !isBounded(properties)) return undefined;
  if (type === 0) {
    const kind = KINDS.find((kind) => typeOfKind(kind) === properties.type);
    const { type: _, ...set } = properties;
    if (kind === undefined) return undefined;
    const others = Object.keys(set).length > 0 ? { set } : {};
    return { mint: { owner: from, unik: names.nameUnik(tokenId), kind, ...others, ...fee } };
  }
  const unik = names.unik(tokenId);
  if (unik === undefined) return undefined;
  if (type === 1) return { update: { owner: from, unik, set: properties, ...fee } };
  if (type !== 2 || recipientId === undefined || Object.keys(properties).length > 0) return undefined;
  return { transferUnik: { from, unik, to: names.recipient(recipientId), ...fee } };
}
