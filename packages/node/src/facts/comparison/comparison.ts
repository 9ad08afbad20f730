/** Periodically compares the fact tree of this node with the trees of other nodes, and raises an alarm if one differs. */
import type { Logger } from "pino";
import type { Event } from "../../events/event.ts";
import { eventOfDivergence } from "../../events/node-events.ts";
import type { ComparisonFigures } from "../../gateway/figures.ts";
import type { FactReader } from "../reader.ts";
import { type Difference, differenceFrom } from "./remote.ts";

export type ComparisonOptions = {
  /** Base URLs of other nodes. */
  readonly urls: readonly string[];
  /** Name of the node's own log: see `logName`. */
  readonly name: string;
  /** Pause between the end of one comparison and the start of the next. */
  readonly everyMs?: number;
};

export type ComparisonDeps = {
  readonly facts: Pick<FactReader, "checkpoint" | "rootAt">;
  readonly report: (...events: Event[]) => void;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type Comparison = {
  figures(): ComparisonFigures;
  /** Compares with every node, one after another. */
  compare(): Promise<void>;
  close(): void;
};

type State = "agrees" | "differs" | "unknown";

const EVERY_MS = 60_000;
/** Delay of the first comparison: after its start, the node may have to build part of its tree first. */
const FIRST_MS = 3_000;

export function startComparison(options: ComparisonOptions, deps: ComparisonDeps): Comparison {
  const { urls, name, everyMs = EVERY_MS } = options;
  const { facts, report, nowMs, logger } = deps;
  const states = new Map<string, State>();
  const totals = { agreed: 0, differed: 0, failed: 0 };
  const closing = new AbortController();
  let timer = setTimeout(run, Math.min(FIRST_MS, everyMs));
  timer.unref();

  async function run(): Promise<void> {
    await compare();
    if (closing.signal.aborted) return;
    timer = setTimeout(run, everyMs);
    timer.unref();
  }

  async function compare(): Promise<void> {
    for (const url of urls) {
      if (closing.signal.aborted) return;
      const before = states.get(url);
      try {
        const difference = await differenceFrom(url, name, facts, closing.signal);
        states.set(url, difference ? "differs" : "agrees");
        totals[difference ? "differed" : "agreed"]++;
        if (difference && before !== "differs") raise(url, difference);
        if (!difference && before === "differs") {
          logger.info({ url }, `the fact tree agrees with ${url} again`);
        }
      } catch (err) {
        if (closing.signal.aborted) return;
        totals.failed++;
        // A known difference remains while the other node is unreachable.
        if (before !== "differs") states.set(url, "unknown");
        if (before !== "unknown") logger.warn({ err, url }, `failed to compare the fact tree with ${url}`);
      }
    }
  }

  function raise(url: string, { size, root, otherRoot }: Difference): void {
    const data = { url, size, root: hexOf(root), otherRoot: hexOf(otherRoot) };
    logger.error(
      data,
      "facts diverge: another node derived different facts from the same final blocks; one of the two has a wrong chain or state: compare both with a third node",
    );
    report(eventOfDivergence(data, nowMs()));
  }

  return {
    figures: () => ({
      ...totals,
      differing: [...states.values()].filter((state) => state === "differs").length,
    }),
    compare,
    close() {
      closing.abort();
      clearTimeout(timer);
    },
  };
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
