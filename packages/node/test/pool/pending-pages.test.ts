/** Pending transactions on their way to the serving thread (transactions.md 15). */
import { transactionToJson } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { rawPendingResponse } from "../../src/http/responses/transaction.ts";
import { createPendingTexts } from "../../src/pool/pending-pages.ts";
import { chain } from "../../test-support/http/chain.ts";

test("The text of a pending transaction has all members of its decoded form, also when its asset is cached.", () => {
  const pendingTransaction = createPendingTexts();
  for (const transaction of Object.values(chain.sent)) {
    for (const _ of ["new", "cached"]) {
      const { text } = rawPendingResponse(pendingTransaction(transaction));
      expect(JSON.parse(text)).toEqual(transactionToJson(transaction.data));
    }
  }
  expect(Object.values(chain.sent).filter(({ data }) => "asset" in data).length).toBeGreaterThan(2);
});
