/** Client of the signing worker. */

import { useSignal } from "@preact/signals";
import type { CryptoConfiguration, RawTransaction } from "@uniknode/client";
import type { Checkpoint, ProofOptions, ProofVerdict } from "@uniknode/client/proofs";
import type { DynamicFees } from "@uniknode/protocol";
import { useEffect } from "preact/hooks";
import { useNode, useResponse } from "../data/node.ts";
import type { Drafting, Passphrases, Signatory, WalletName } from "./build.ts";
import type { Field } from "./fields.ts";
import type { Question, Reply } from "./messages.ts";
import type { Fault, Order, Terms } from "./order.ts";
import workerUrl from "./worker.ts?worker&url";

/** All functions throw `SigningError`. */
export type Signer = {
  draft(order: Order, terms: Terms): Promise<Drafting>;
  /** Returns the fee that a node requires, by the policy in its configuration. */
  requiredFee(transaction: RawTransaction, height: number, policy: DynamicFees): Promise<bigint>;
  walletOf(passphrase: string): Promise<WalletName>;
  /** Splits the bytes of a transaction into fields. */
  fieldsOf(transaction: RawTransaction): Promise<readonly Field[]>;
  /** Verifies a proof, which takes about 50 ms. */
  verify(proof: unknown, checkpoint: Checkpoint, options: ProofOptions): Promise<ProofVerdict>;
  /** Passes the passphrases to the worker without storing them. */
  sign(order: Order, terms: Terms, signatory: Signatory, passphrases: Passphrases): Promise<RawTransaction>;
  close(): void;
};

export class SigningError extends Error {
  readonly code: "ORDER_INVALID" | "SIGNING_FAILED";
  readonly isRetryable = false;
  /** Field; absent if the input is not the cause. */
  readonly fault: Fault | undefined;

  constructor(message: string, fault?: Fault) {
    super(message);
    this.name = "SigningError";
    this.code = fault ? "ORDER_INVALID" : "SIGNING_FAILED";
    this.fault = fault;
  }
}

/** Timeout of the worker; signing takes a few milliseconds. */
const TIMEOUT_MS = 10_000;

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: SigningError) => void };

export function startSigner({ network, milestones, exceptions }: CryptoConfiguration): Signer {
  const worker = new Worker(trusted(workerUrl) as string, { type: "module", name: "signer" });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  /** Reason why the worker ended. */
  let ended: string | undefined;

  worker.onmessage = ({ data: { number, value, fault, failure } }: MessageEvent<Reply>) => {
    const question = waiting.get(number);
    waiting.delete(number);
    if (fault) question?.reject(new SigningError(fault.message, fault));
    else if (failure !== undefined) question?.reject(new SigningError(failure));
    else question?.resolve(value);
  };
  worker.onerror = () => end("Failed to load the signing code. Reload the page.");

  function end(reason: string): void {
    ended = reason;
    worker.terminate();
    for (const { reject } of waiting.values()) reject(new SigningError(reason));
    waiting.clear();
  }

  async function ask<Value>(question: Question): Promise<Value> {
    if (ended !== undefined) throw new SigningError(ended);
    const number = ++last;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(number, { resolve, reject });
    const timer = setTimeout(() => end("Signing took too long. Reload the page."), TIMEOUT_MS);
    worker.postMessage({ number, question });
    try {
      return (await promise) as Value;
    } finally {
      clearTimeout(timer);
    }
  }

  // The next request reports any failure of it.
  ask({ ask: "open", files: { network, milestones, exceptions } }).catch(() => {});
  return {
    draft: (order, terms) => ask({ ask: "draft", order, terms }),
    fieldsOf: (transaction) => ask({ ask: "fields", transaction }),
    verify: (proof, checkpoint, options) => ask({ ask: "verify", proof, checkpoint, options }),
    requiredFee: (transaction, height, policy) => ask({ ask: "fee", transaction, height, policy }),
    walletOf: (passphrase) => ask({ ask: "wallet", passphrase }),
    sign: (order, terms, signatory, passphrases) =>
      ask({ ask: "sign", order, terms, signatory, passphrases }),
    close: () => end("The page was closed."),
  };
}

/** Returns a signer while a screen is shown; absent until the network is known. */
export function useSigner(): Signer | undefined {
  const { api } = useNode();
  const signer = useSignal<Signer | undefined>(undefined);
  const files = useResponse("network rules", () => api.node.cryptoConfiguration(), {
    lasts: "session",
  }).value;
  useEffect(() => {
    if (!files) return;
    const started = startSigner(files.data);
    signer.value = started;
    return () => started.close();
  }, [files]);
  return signer.value;
}

type TrustedTypes = {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): unknown };
};

/** Browsers without Trusted Types use the URL directly. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("uniknode-signer", {
  createScriptURL(url) {
    if (url === workerUrl) return url;
    throw new TypeError(`${url} is not the script that signs`);
  },
});
const trusted = (url: string): unknown => policy?.createScriptURL(url) ?? url;
