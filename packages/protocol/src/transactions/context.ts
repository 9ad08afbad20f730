/** The rules in force for a transaction (transactions.md 1). */
import type { Milestone, Network } from "../networks/network.ts";

export type TransactionContext = {
  network: Network;
  /** Height of the last accepted block, not of the block that is checked (trap A1). */
  height: number;
};

export const milestoneOf = ({ network, height }: TransactionContext): Milestone =>
  network.milestoneAt(height);

/** Returns true if the transaction is a listed exception of the chain's history (networks.md 3). */
export const isExceptional = ({ network }: TransactionContext, id: unknown): boolean =>
  typeof id === "string" && network.exceptions.transactions?.includes(id) === true;
