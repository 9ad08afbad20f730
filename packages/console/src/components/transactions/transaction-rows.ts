/** Rows of transactions for files. */
import type { Client, Transaction } from "@uniknode/client";
import { titleOf } from "./kinds.ts";

/** @param transactions list of the API in its usual format */
export async function* transactionRows(transactions: ReturnType<Client["transactions"]["search"]>) {
  for await (const transaction of transactions as AsyncIterable<Transaction>) {
    const { id, blockId = "", timestamp, sender, recipient, amount, fee, vendorField = "" } = transaction;
    yield {
      ...{ id, blockId, time: timestamp?.human ?? "", type: titleOf(transaction) },
      ...{ sender, recipient, amount, fee, vendorField },
    };
  }
}
