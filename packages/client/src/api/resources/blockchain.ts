/** `/blockchain`, and the greeting of the node (http-api.md 6.1). */
import type { Answer, WholeAmount } from "../answers.ts";
import type { Send } from "../send.ts";

export type Blockchain = {
  /** Of the head. */
  readonly block: { readonly height: number; readonly id: string };
  /** Tokens in circulation, in the smallest unit. A number, as are the amounts of a single wallet or transaction. */
  readonly supply: WholeAmount;
};

export const blockchain = (send: Send) => ({
  get: () => send<Answer<Blockchain>>({ path: "/blockchain" }),
});
