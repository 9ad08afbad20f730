/**
 * Methods: validation of their parameters, and their context, with the nonces of transactions that simultaneous calls
 * create.
 */
import type { Client } from "@uniknode/client";
import type { Network } from "@uniknode/protocol";
import { type Fault, formOf } from "../platform/json/form.ts";
import type { Static, TObject } from "../platform/json/schema.ts";
import type { Derivations } from "./derivations.ts";
import { invalidParams } from "./rpc-error.ts";
import type { RpcStore } from "./store.ts";

/** Dependencies of the methods. */
export type RpcContext = {
  readonly client: Client;
  readonly network: Network;
  readonly store: RpcStore;
  readonly nonces: BodyNonces;
  readonly derivations: Derivations;
  /** Aborts running work; its reason is the error that the caller gets. The client uses it too. */
  readonly signal: AbortSignal;
};

/**
 * @throws {RpcError}
 * @throws {ApiError}
 */
export type Method = (params: unknown, context: RpcContext) => Promise<unknown>;

/** Creates a method that runs only with parameters that match the schema. */
export function method<Params extends TObject>(
  params: Params,
  run: (params: Static<Params>, context: RpcContext) => Promise<unknown>,
): Method {
  const form = formOf(params);
  return async (given, context) => {
    if (!form.is(given)) throw invalidParams(faultText(form.fault(given)));
    return run(given, context);
  };
}

/** Names the member as JSON-RPC clients know it: `amount: must be integer`. */
export const faultText = (fault: Fault | undefined): string =>
  fault === undefined ? "" : `${fault.path.slice(1) || "it"}: ${fault.message}`;

/**
 * Nonces of the transactions that simultaneous calls, or the calls of a batch, create: the node does not know any of them yet,
 * so each call would get the same one. Bounded by the bodies in progress.
 */
export class Nonces {
  readonly #senders: Senders = new Map();

  /** Begins a body of calls. */
  open(): BodyNonces {
    return new BodyNonces(this.#senders);
  }
}

/** Senders by public key, while bodies are in progress. */
type Senders = Map<string, Sender>;

class BodyNonces {
  readonly #senders: Senders;
  readonly #entered = new Set<string>();

  constructor(senders: Senders) {
    this.#senders = senders;
  }

  /** Begins a call that creates a transaction of a sender, whose nonces last as long as the body. */
  enter(senderPublicKey: string): Pick<Sender, "next" | "use"> {
    const sender = this.#senders.get(senderPublicKey) ?? new Sender();
    if (!this.#entered.has(senderPublicKey)) sender.bodies++;
    this.#entered.add(senderPublicKey);
    this.#senders.set(senderPublicKey, sender);
    return sender;
  }

  /** Ends the body: when the last one of a sender ends, the node decides again. */
  leave(): void {
    for (const senderPublicKey of this.#entered) {
      const sender = this.#senders.get(senderPublicKey);
      if (sender && --sender.bodies === 0) this.#senders.delete(senderPublicKey);
    }
    this.#entered.clear();
  }
}

class Sender {
  bodies = 0;
  #last = 0n;

  /** Returns the next nonce after those of the other calls; `atNode` is the next one as the node knows it. */
  next(atNode: bigint): bigint {
    return this.#last >= atNode ? this.#last + 1n : atNode;
  }

  /** Records that a transaction with this nonce was created. */
  use(nonce: bigint): void {
    this.#last = nonce;
  }
}
