/** Builds and signs transactions from orders, in the worker. */
import type { RawTransaction } from "@uniknode/client";
import {
  addressFromPublicKey,
  builders,
  bytesToHex,
  certifyDisclosure,
  type DynamicFees,
  discloseSubject,
  encodeTransaction,
  isAddress,
  isHighFee,
  type KeyPair,
  keysFromPassphrase,
  type Network,
  requiredFee,
  secondSignTransaction,
  signDiscloseDemand,
  signTransaction,
  type TransactionBody,
  transactionToJson,
  utf8ToBytes,
} from "@uniknode/protocol";
import { bodyFromRaw } from "./fields.ts";
import type { Fault, Order, OrderField, Terms } from "./order.ts";

/** Unsigned transaction. */
export type Draft = Omit<RawTransaction, "id">;

/** Passphrase of the sender. */
export type Signatory = {
  readonly address: string;
  /** Second passphrase, if the wallet has one. */
  readonly secondPublicKey: string | undefined;
};

export type Passphrases = {
  readonly passphrase: string;
  /** Empty if the wallet has none. */
  readonly second: string;
  /** Passphrase of the factory that certifies the order. */
  readonly certifier?: string;
};

export type WalletName = { readonly address: string; readonly publicKey: string };

/** An order or a passphrase is invalid. */
export class OrderError extends Error {
  readonly code = "ORDER_INVALID";
  readonly isRetryable = false;
  readonly fault: Fault;

  constructor(field: OrderField, message: string) {
    super(message);
    this.name = "OrderError";
    this.fault = { field, message };
  }
}

export type Drafting = {
  readonly draft: Draft;
  /** Fee of the type, in the smallest unit. */
  readonly usualFee: bigint;
  /** The fee of the draft is probably a mistake. */
  readonly isFeeHigh: boolean;
};

/** @throws {OrderError} */
export function draftingOf(network: Network, order: Order, terms: Terms): Drafting {
  const { fee, ...usual } = terms;
  const draft = draftOf(network, order, terms);
  const usualFee = BigInt(fee === undefined ? draft.fee : draftOf(network, order, usual).fee);
  return { draft, usualFee, isFeeHigh: isHighFee(BigInt(draft.fee), usualFee) };
}

/** Fee that the node requires, by its policy. */
export function requiredFeeOf(
  network: Network,
  {
    transaction,
    height,
    policy,
  }: { readonly transaction: RawTransaction; readonly height: number; readonly policy: DynamicFees },
): bigint {
  const body = bodyFromRaw(transaction);
  return requiredFee(body, encodeTransaction(body).length, network.milestoneAt(height), policy);
}

/** @throws {OrderError} */
export function draftOf(network: Network, order: Order, terms: Terms): Draft {
  const { id: _, ...draft } = transactionToJson({ ...bodyOf(network, order, terms), id: "" });
  return draft as Draft;
}

export function walletOf(network: Network, passphrase: string): WalletName {
  const publicKey = bytesToHex(keysFromPassphrase(passphrase).publicKey);
  return { publicKey, address: addressFromPublicKey(publicKey, network.description.pubKeyHash) };
}

/**
 * Builds and signs a transaction that the chain accepts.
 *
 * @throws {OrderError} if a passphrase does not belong to the wallet
 */
export function signOrder(
  network: Network,
  order: Order,
  terms: Terms,
  { address, secondPublicKey }: Signatory,
  { passphrase, second, certifier = "" }: Passphrases,
): RawTransaction {
  const keys = keysFromPassphrase(passphrase);
  const sender = walletOf(network, passphrase);
  if (sender.address !== address) {
    throw new OrderError("passphrase", `This is the passphrase of ${sender.address}, not of the sender.`);
  }
  if (order.kind === "disclose" && certifier === "")
    throw new OrderError("certifier", "Enter the passphrase of the factory.");
  const signers = { keys, certifier };
  const body = bodyOf(network, order, { ...terms, senderPublicKey: sender.publicKey }, signers);
  const signed = signTransaction(body, keys);
  const whole = secondPublicKey ? secondSignTransaction(signed, secondKeys(second, secondPublicKey)) : signed;
  return transactionToJson(whole) as RawTransaction;
}

function secondKeys(second: string, publicKey: string): KeyPair {
  const keys = keysFromPassphrase(second);
  if (bytesToHex(keys.publicKey) === publicKey) return keys;
  throw new OrderError("second", "Wrong second passphrase for this wallet.");
}

/** The keys of the sender, and the passphrase of the factory. */
type Signers = { readonly keys: KeyPair; readonly certifier: string };

/** @param signers sign the parts of an asset; absent for a draft, in which the signatures are empty */
function bodyOf(network: Network, order: Order, terms: Terms, signers?: Signers): TransactionBody {
  const envelope = { ...terms, network };
  const rules = network.milestoneAt(terms.height);
  switch (order.kind) {
    case "transfer":
      checkRecipient(network, order.recipientId);
      checkBytes("text", "The text", order.vendorField, rules.vendorFieldLength);
      return builders.transfer({ ...envelope, ...order });
    case "vote":
      return builders.unsVote({ ...envelope, vote: order.vote });
    case "mint":
      if (rules.certifiedNFTsOnly) throw new OrderError("unik", CERTIFIED_ONLY);
      checkProperties(order.properties);
      return builders.nftMint({ ...envelope, ...order });
    case "transfer-unik":
      checkRecipient(network, order.recipientId);
      return builders.nftTransfer({ ...envelope, ...order });
    case "update":
      checkProperties(order.properties);
      return builders.nftUpdate({ ...envelope, ...order });
    case "disclose":
      if (terms.senderPublicKey === "") throw new OrderError("from", KEY_UNKNOWN);
      return builders.unsDiscloseExplicit({ ...envelope, ...disclosureOf(order, signers) });
  }
}

/** The chain verifies the demand with the key of the owner before the transaction publishes the key. */
const KEY_UNKNOWN =
  "The chain does not know the public key of this wallet yet: send any other transaction first.";

function disclosureOf(
  { tokenId, explicitValues, type, factory }: Extract<Order, { kind: "disclose" }>,
  signers: Signers | undefined,
) {
  for (const name of explicitValues)
    checkBytes("names", `The name ${name.slice(0, 20)}`, name, MAX_NAME_BYTES);
  const payload = { explicitValue: [...explicitValues], type, iss: tokenId, sub: tokenId, iat: ISSUED_AT };
  const terms = { iss: factory, iat: ISSUED_AT };
  if (!signers) {
    const certified = { sub: discloseSubject(payload), ...terms };
    return { demand: { payload, signature: "" }, certification: { payload: certified, signature: "" } };
  }
  const demand = signDiscloseDemand(payload, signers.keys);
  const certification = certifyDisclosure(demand, terms, keysFromPassphrase(signers.certifier));
  return { demand, certification };
}

const MAX_NAME_BYTES = 255;
/** The start of the worker, so that a disclosure is signed as in its draft. No node compares it with a clock. */
const ISSUED_AT = Math.floor(Date.now() / 1_000);

const CERTIFIED_ONLY =
  "On this network a factory certifies each mint, with a passphrase of its own: use the command below with --factory.";

/** Refuses addresses of other networks: the chain accepts some payments to them, but no key could spend them. */
function checkRecipient({ description }: Network, address: string): void {
  const versions = Array.from({ length: 256 }, (_, version) => version);
  const isWhole = /^[1-9A-HJ-NP-Za-km-z]{34}$/.test(address);
  const version = versions.find((version) => isWhole && isAddress(address, version));
  if (version === undefined) throw new OrderError("to", "This is not a valid address: it has a typo.");
  if (version !== description.pubKeyHash) {
    throw new OrderError(
      "to",
      "This is an address of another network: no key on this network could spend from it.",
    );
  }
}

const MAX_PROPERTIES = 255;
const MAX_PROPERTY_BYTES = 255;

function checkProperties(properties: Readonly<Record<string, string | null>>): void {
  const entries = Object.entries(properties);
  if (entries.length > MAX_PROPERTIES) {
    throw new OrderError(
      "properties",
      `At most ${MAX_PROPERTIES} properties are allowed, not ${entries.length}.`,
    );
  }
  for (const [name, value] of entries) {
    checkBytes("properties", `The name ${name.slice(0, 20)}`, name, MAX_PROPERTY_BYTES);
    checkBytes("properties", `The value of ${name}`, value ?? "", MAX_PROPERTY_BYTES);
  }
}

function checkBytes(field: OrderField, what: string, text: string, max: number): void {
  const { length } = utf8ToBytes(text);
  if (length > max) throw new OrderError(field, `${what} has ${length} bytes; at most ${max} are allowed.`);
}
