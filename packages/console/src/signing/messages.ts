/** What a page and its worker say to each other. */
import type { CryptoConfiguration, RawTransaction } from "@uniknode/client";
import type { Passphrases, Signatory } from "./build.ts";
import type { Fault, Order, Terms } from "./order.ts";

export type Question =
  /** The network for all later questions. */
  | {
      readonly ask: "open";
      readonly files: Pick<CryptoConfiguration, "network" | "milestones" | "exceptions">;
    }
  | { readonly ask: "draft"; readonly order: Order; readonly terms: Terms }
  | { readonly ask: "fields"; readonly transaction: RawTransaction }
  | { readonly ask: "wallet"; readonly passphrase: string }
  | {
      readonly ask: "sign";
      readonly order: Order;
      readonly terms: Terms;
      readonly signatory: Signatory;
      readonly passphrases: Passphrases;
    };

export type Request = { readonly number: number; readonly question: Question };

/** One of the members besides the number of the request. */
export type Answer = {
  readonly number: number;
  readonly value?: unknown;
  /** What the reader can correct. */
  readonly fault?: Fault;
  /** What the reader cannot. */
  readonly failure?: string;
};
