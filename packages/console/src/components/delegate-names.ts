/** Delegates by their public keys: names for the keys that blocks and rounds have. */
import type { Delegate } from "@uniknode/client";
import { useAnswer, useNode } from "../data/node.ts";
import { shortened } from "./format.ts";

const NAMES_INTERVAL_MS = 60_000;

/**
 * What delegates are called, by username and by public key; they seldom change. Those of the first hundred in the order
 * of their ranks: the active ones of every network are among them.
 */
export function useDelegateNames(): ReadonlyMap<string, string> {
  const { api } = useNode();
  const answer = useAnswer(
    "delegate names",
    async () => {
      const { data } = await api.delegates.list({ orderBy: "rank:asc" }).page({ limit: 100 });
      return new Map(
        data.flatMap((delegate) =>
          [delegate.username, delegate.publicKey].map((id) => [id, nameOf(delegate)] as const),
        ),
      );
    },
    { lasts: "session", everyMs: NAMES_INTERVAL_MS },
  );
  return answer.value ?? NONE;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** The name that a delegate disclosed; else its username, in which the id of a unik is shortened. */
export const nameOf = ({ unikname, username }: Pick<Delegate, "unikname" | "username">): string =>
  unikname && unikname !== username ? shortened(unikname, 16) : shortened(username);
