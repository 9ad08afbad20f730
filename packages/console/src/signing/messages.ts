/** Messages between a page and its worker. */
import type { CryptoConfiguration, RawTransaction } from "@uniknode/client";
import type { Checkpoint, ProofOptions } from "@uniknode/client/proofs";
import type { DynamicFees } from "@uniknode/protocol";
import type { Passphrases, Signatory } from "./build.ts";
import type { Fault, Order, Terms } from "./order.ts";

export type Question =
  /** Network of all later requests. */
  | {
      readonly ask: "open";
      readonly files: Pick<CryptoConfiguration, "network" | "milestones" | "exceptions">;
    }
  | { readonly ask: "draft"; readonly order: Order; readonly terms: Terms }
  | { readonly ask: "fields"; readonly transaction: RawTransaction }
  | { readonly ask: "wallet"; readonly passphrase: string }
  | {
      readonly ask: "fee";
      readonly transaction: RawTransaction;
      readonly height: number;
      readonly policy: DynamicFees;
    }
  /** `proof` is a response of the node, of any form. */
  | {
      readonly ask: "verify";
      readonly proof: unknown;
      readonly checkpoint: Checkpoint;
      readonly options: ProofOptions;
    }
  | {
      readonly ask: "sign";
      readonly order: Order;
      readonly terms: Terms;
      readonly signatory: Signatory;
      readonly passphrases: Passphrases;
    };

export type Request = { readonly number: number; readonly question: Question };

/** Has one member in addition to the number of the request. */
export type Reply = {
  readonly number: number;
  readonly value?: unknown;
  /** Error that the user can correct. */
  readonly fault?: Fault;
  /** Error that the user cannot correct. */
  readonly failure?: string;
};
