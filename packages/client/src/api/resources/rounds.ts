/** `/rounds` (http-api.md 6.9). */

import { path } from "../request.ts";
import type { Amount, ApiResponse } from "../responses.ts";
import type { Send } from "../send.ts";

export type RoundDelegate = { readonly publicKey: string; readonly votes: Amount };

export const rounds = (send: Send) => ({
  /** The delegates of a round, most votes first. */
  delegates: (round: number) =>
    send<ApiResponse<readonly RoundDelegate[]>>({ path: path`/rounds/${round}/delegates` }),
});
