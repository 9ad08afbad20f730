/** Compares the database of a mirror with nodes: whether they have its chain, and how far it is behind them. */
import type { Network } from "@uniknode/protocol";
import { finalHeight } from "../../facts/final.ts";
import { parseExternal } from "../../platform/json/external.ts";
import { type Form, formOf } from "../../platform/json/form.ts";
import { Type } from "../../platform/json/schema.ts";
import { readBounded } from "../../platform/text/bounded.ts";
import type { Postgres } from "../../postgres/connection.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const TIMEOUT_MS = 5_000;
/** The limit of `/health/ready` of an API server. */
const MAX_BLOCKS_BEHIND = 10;
const MAX_RESPONSE_BYTES = 65_536;
const RESPONSE_BOUNDS = { maxCharacters: MAX_RESPONSE_BYTES, maxDepth: 8, maxValues: 1_000 };

const BLOCKCHAIN = formOf(
  Type.Object({
    data: Type.Object({
      block: Type.Object({ height: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    }),
  }),
);
const BLOCK = formOf(
  Type.Object({ data: Type.Object({ id: Type.String({ pattern: "^[0-9a-f]{1,64}$" }) }) }),
);

export async function checkLag(
  height: number,
  nodes: readonly string[],
  { postgres, network }: { readonly postgres: Postgres; readonly network: Network },
): Promise<Finding> {
  const known = await Promise.all(
    nodes.map(async (node) => ({
      node,
      height: (await readNode(node, "blockchain", BLOCKCHAIN))?.data.block.height,
    })),
  );
  const heights = known.flatMap(({ height }) => height ?? []);
  if (heights.length === 0)
    return warn("lag", "unknown: no node responds", "give the base URLs of nodes with --node");
  for (const { node, height: nodeHeight } of known) {
    const final = finalHeight(Math.min(nodeHeight ?? 0, height), network);
    const [stored] = await postgres.query<{ id: string }>("SELECT id FROM blocks WHERE height = $1", [final]);
    const id = stored && (await readNode(node, `blocks/${final}`, BLOCK))?.data.id;
    if (id !== undefined && id !== stored?.id)
      return fail(
        "lag",
        `${node} has another chain: its block ${final} is ${id}, and ${stored?.id} in the database`,
        "check --node and --database-url; the mirror copies another chain into an empty database",
      );
  }
  const blocks = Math.max(0, Math.max(...heights) - height);
  const text = `${blocks} blocks behind the node`;
  return blocks <= MAX_BLOCKS_BEHIND
    ? ok("lag", text)
    : warn("lag", text, "check the log of the mirror; on a replica, check its replication");
}

/** Returns a response of the API; undefined if the node does not send it. */
async function readNode<T>(node: string, path: string, form: Form<T>): Promise<T | undefined> {
  try {
    const response = await fetch(`${node.replace(/\/$/, "")}/api/v2/${path}`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return parseExternal(await readBounded(response.body, MAX_RESPONSE_BYTES), form, RESPONSE_BOUNDS);
  } catch {
    return undefined;
  }
}
