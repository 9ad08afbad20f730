/** Validates the input as an order with the chain and the worker. */

import { findDelegate } from "@uniknode/client";
import { useEffect, useState } from "preact/hooks";
import { useSymbol } from "../../components/amount.tsx";
import { errorText } from "../../components/error-text.ts";
import { amountText } from "../../components/format.ts";
import { useNode, useResponse } from "../../data/node.ts";
import type { CachedResponse } from "../../data/response-cache.ts";
import type { Drafting } from "../../signing/build.ts";
import type { Order, Terms } from "../../signing/order.ts";
import { isAddressText, isUnknown, type Sender, useSender } from "../../signing/sender.ts";
import { type Signer, SigningError } from "../../signing/signer.ts";
import {
  type Faults,
  type Kind,
  readOrder,
  readTerms,
  type TermsReading,
  type Values,
} from "./read-order.ts";

/** Preview of an order; exactly this is signed. */
export type Drafted = Drafting & { readonly order: Order; readonly terms: Terms };

export type OrderState = {
  readonly sender: CachedResponse<Sender>;
  /** Absent while the input is incomplete. */
  readonly drafted: Drafted | undefined;
  /** True if `drafted` matches the current input and has no errors. */
  readonly isReady: boolean;
  readonly chosen: TermsReading;
  readonly faults: Faults;
};

/** @param settled input for queries to the node, without the field being edited */
export function useOrder(
  kind: Kind,
  values: Values,
  settled: Values,
  signer: Signer | undefined,
): OrderState {
  const { head } = useNode();
  const askable = (name: string) => (values[name] === settled[name] ? (settled[name] ?? "") : "");
  const sender = useSender(askable("from"));
  const { wallet } = sender.value ?? {};
  const isVote = kind === "vote" && values.action !== "withdraw";
  const delegate = useDelegate(isVote ? askable("delegate").trim() : "");
  const { order, faults: mistakes } = readOrder(kind, values, {
    vote: wallet && (wallet.vote ?? ""),
    delegate: delegate.publicKey,
    tokens: wallet && (wallet.attributes.tokens ?? {}),
  });
  const chosen = readTerms(values);
  const terms = termsOf(sender.value, chosen, head.value?.height);
  const { drafted, fault } = useDraft(signer, order, terms);
  const faults: Faults = {
    ...senderFault(values.from, sender),
    ...shortage(order, drafted?.draft.fee, sender.value, useSymbol()),
    ...delegate.fault,
    ...fault,
    ...mistakes,
    ...chosen.faults,
  };
  const isReady =
    drafted !== undefined && keyOf(drafted.order) === keyOf(order) && Object.keys(faults).length === 0;
  return { sender, drafted, isReady, chosen, faults };
}

function termsOf(
  sender: Sender | undefined,
  { fee, nonce }: TermsReading,
  height: number | undefined,
): Terms | undefined {
  if (height === undefined || !sender) return undefined;
  const { wallet, nextNonce } = sender;
  return {
    senderPublicKey: wallet.publicKey,
    nonce: nonce ?? nextNonce,
    height,
    ...(fee !== undefined && { fee }),
  };
}

function senderFault(from: string | undefined, { value, error }: CachedResponse<Sender>): Faults {
  if (!from) return {};
  if (isUnknown(error)) return { from: "This wallet does not exist yet." };
  if (value?.wallet.multiSignature) {
    return {
      from: "This is a multi-signature wallet: use Signed JSON for a transaction signed by its members.",
    };
  }
  return isAddressText(from.trim()) ? {} : { from: "An address has 34 letters and digits." };
}

/** Checks the balance before signing; the chain would refuse it later. */
function shortage(
  order: Order | undefined,
  fee: string | undefined,
  sender: Sender | undefined,
  symbol: string,
): Faults {
  if (!order || fee === undefined || !sender) return {};
  const amount = order.kind === "transfer" ? order.amount : 0n;
  const lacks = amount + BigInt(fee) - BigInt(sender.wallet.balance);
  if (lacks <= 0n) return {};
  const message = `With the fee, the wallet lacks ${amountText(lacks)} ${symbol}.`;
  return order.kind === "transfer" ? { amount: message } : { from: message };
}

/** @param text displayed name, username, address or public key */
function useDelegate(text: string): { readonly publicKey?: string; readonly fault?: Faults } {
  const { api } = useNode();
  const key = text === "" ? undefined : `delegate ${text} to vote for`;
  const { value, error } = useResponse(key, () => findDelegate(api, text));
  if (isUnknown(error)) return { fault: { delegate: "This delegate does not exist." } };
  if (error) return { fault: { delegate: errorText(error) } };
  if (!value) return {};
  const { publicKey, isResigned } = value.data;
  return isResigned ? { publicKey, fault: { delegate: "This delegate has resigned." } } : { publicKey };
}

type DraftState = { readonly drafted?: Drafted; readonly fault?: Faults };

function useDraft(
  signer: Signer | undefined,
  order: Order | undefined,
  terms: Terms | undefined,
): DraftState {
  const [state, setState] = useState<DraftState>({});
  const key = keyOf(order && terms && [order, terms]);
  // The key identifies order and terms.
  useEffect(() => {
    if (!signer || !order || !terms) return setState({});
    let isCurrent = true;
    signer.draft(order, terms).then(
      (drafting) => isCurrent && setState({ drafted: { order, terms, ...drafting } }),
      (error: unknown) => isCurrent && setState({ fault: faultsOf(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [signer, key]);
  return state;
}

const keyOf = (value: unknown): string =>
  JSON.stringify(value, (_name, member) => (typeof member === "bigint" ? `${member}` : member)) ?? "";

export const faultsOf = (error: unknown): Faults =>
  error instanceof SigningError && error.fault
    ? { [error.fault.field]: error.fault.message }
    : { from: errorText(error) };
