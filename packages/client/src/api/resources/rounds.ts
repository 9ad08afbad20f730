/** `/rounds` (http-api.md 6.9). */
import type { Amount, Answer } from "../answers.ts";
import { path } from "../request.ts";
import type { Send } from "../send.ts";

export type RoundDelegate = { readonly publicKey: string; readonly votes: Amount };

export const rounds = (send: Send) => ({
  /** The delegates of a round, most votes first. */
  delegates: (round: number) =>
    send<Answer<readonly RoundDelegate[]>>({ path: path`/rounds/${round}/delegates` }),
});
