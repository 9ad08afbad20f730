/** Facts of an applied block, in the order of events.md 3.1. The node converts facts to events. */
import type { BlockHeader, Transaction } from "@uniknode/protocol";
import type { Wallet } from "./state/tables.ts";

export type Fact =
  /** A slot between the previous block and this one that its delegate missed. */
  | { readonly name: "forger.missing"; readonly delegate: Wallet; readonly slot: number }
  | { readonly name: "round.missed"; readonly delegate: Wallet; readonly round: number }
  /** The new round's delegates in the order of selection. */
  | { readonly name: "round.created"; readonly delegates: readonly Wallet[]; readonly round: number }
  | { readonly name: "round.applied"; readonly round: number }
  | {
      readonly name: "transaction.applied" | "delegate.registered" | "delegate.resigned";
      readonly transaction: Transaction;
      /** Index in the block. */
      readonly sequence: number;
    }
  /** `delegate`: the sign `+` or `-`, and the public key. */
  | {
      readonly name: "wallet.vote" | "wallet.unvote";
      readonly delegate: string;
      readonly transaction: Transaction;
      readonly sequence: number;
    }
  | {
      readonly name: "unik.minted" | "unik.transferred" | "unik.updated" | "unik.disclosed";
      readonly tokenId: string;
      readonly ownerId: string;
      readonly transaction: Transaction;
      readonly sequence: number;
    }
  /** Wallets of the block by ascending address, each once. */
  | { readonly name: "wallet.created.cold" | "wallet.saved"; readonly wallet: Wallet }
  | { readonly name: "block.applied"; readonly header: BlockHeader };
