/** Shows delegates by their disclosed names. */
import type { Delegate } from "@uniknode/client";
import { useNode, useResponse } from "../data/node.ts";
import { shortened } from "./format.ts";
import { hrefOf, Identifier } from "./identifier.tsx";

/** @param id its username or public key */
export function DelegateName({ id, name }: { id: string; name?: string }) {
  const known = useDelegateNames().get(id);
  return (
    <Identifier id={id} what="delegate" href={hrefOf.delegate(id)} name={name ?? known ?? shortened(id)} />
  );
}

const NAMES_INTERVAL_MS = 60_000;

/**
 * Names of the first hundred delegates by rank, by username and by public key; they rarely change. The active delegates
 * of all networks are among them.
 */
export function useDelegateNames(): ReadonlyMap<string, string> {
  const { api } = useNode();
  const response = useResponse(
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
  return response.value ?? NONE;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Returns the disclosed name of a delegate, or else its username, shortened if it is the id of a unik. */
export const nameOf = ({ unikname, username }: Pick<Delegate, "unikname" | "username">): string =>
  unikname && unikname !== username ? unikname : shortened(username);
