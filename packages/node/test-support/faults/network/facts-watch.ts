/** Polls the roots of the fact trees of all nodes: trees of one size must have one root. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet, FleetNode } from "./fleet.ts";

export type FactsWatch = {
  /** Descriptions of failures. */
  readonly faults: readonly string[];
  /** Sizes that two or more nodes had. */
  compared(): number;
  stop(): Promise<void>;
};

/** A round of seven nodes takes longer than this. */
const EVERY_MS = 2_000;

export function watchFacts(fleet: Fleet): FactsWatch {
  /** Root and nodes by tree size. */
  const seen = new Map<number, { readonly root: string; readonly nodes: Set<number> }>();
  const faults: string[] = [];
  const stopping = new AbortController();

  async function look(node: FleetNode, index: number): Promise<void> {
    const client = await node.client();
    const checkpoint = await client?.get("/api/v2/facts/checkpoint").catch(() => undefined);
    if (!checkpoint) return;
    const { size, root } = checkpoint as { readonly size: number; readonly root: string };
    const known = seen.get(size);
    if (!known) seen.set(size, { root, nodes: new Set([index]) });
    else if (known.root === root) known.nodes.add(index);
    else
      faults.push(`node ${index} has root ${root} of ${size} facts, nodes ${[...known.nodes]} ${known.root}`);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const looks = fleet.nodes.map(look);
      const pause = sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
      // A paused node responds later.
      await Promise.race([Promise.all([...looks, pause]), sleep(2 * EVERY_MS, undefined, { ref: false })]);
    }
  }

  const running = run();
  return {
    faults,
    compared: () => [...seen.values()].filter(({ nodes }) => nodes.size > 1).length,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
