/**
 * Periodically compares the fact tree of this node with the trees of other nodes, and raises an alarm if one differs. The other trees are
 * read over HTTP: responses are bounded in size, and accepted only as far as they are proven.
 */
import type { Logger } from "pino";
import type { Event } from "../events/catalogue.ts";
import { eventOfDivergence } from "../events/node-events.ts";
import type { ComparisonFigures } from "../gateway/figures.ts";
import { CodedError } from "../platform/coded-error.ts";
import { parseExternal, type TextBounds } from "../platform/json/external.ts";
import { type Form, formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import { readBounded, shortened, withoutControls } from "../platform/text/foreign.ts";
import { HASH_BYTES, type Hash, isConsistent } from "./merkle/proofs.ts";
import type { FactReader } from "./reader.ts";

/** Timeout after which the other node counts as unreachable. */
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 65_536;
const RESPONSE_BOUNDS: TextBounds = { maxCharacters: MAX_RESPONSE_BYTES, maxDepth: 4, maxValues: 1_000 };
/** Upper bound on the hashes of a proof: no tree is that high. */
const MAX_PROOF_HASHES = 128;

/** Characters of the other node's response that an error quotes. */
const MAX_REASON = 300;

const hash = Type.String({ pattern: "^[0-9a-f]{64}$", description: `a hash of ${HASH_BYTES} bytes` });

const CHECKPOINT = formOf(
  Type.Object({
    data: Type.Object({
      size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      root: hash,
      height: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      note: Type.String(),
      verifierKey: Type.String(),
    }),
  }),
);

const PROOF = formOf(
  Type.Object({
    data: Type.Object({
      proof: Type.Array(hash, { maxItems: MAX_PROOF_HASHES, description: "a list of hashes" }),
    }),
  }),
);

export type RemoteCheckpoint = {
  readonly name: string;
  readonly size: number;
  readonly root: Hash;
  readonly height: number;
  readonly note: string;
  readonly verifierKey: string;
};

/** The other node sent an invalid response, or none. Retryable. */
class RemoteError extends CodedError<"FACTS_UNKNOWN"> {
  constructor(url: string, why: string) {
    const reason = shortened(withoutControls(why), MAX_REASON);
    super("FACTS_UNKNOWN", `${url} does not expose its fact tree: ${reason}`, { isRetryable: true });
  }
}

/** Roots of the two trees at the size at which they differ. */
type Difference = { readonly size: number; readonly root: Hash; readonly otherRoot: Hash };

/**
 * Compares the own tree with the tree of another node, at the size of the smaller tree.
 *
 * @param name name of the own log
 * @returns undefined if the trees agree
 * @throws {RemoteError}
 */
async function differenceFrom(
  url: string,
  name: string,
  facts: Pick<FactReader, "checkpoint" | "rootAt">,
  signal: AbortSignal,
): Promise<Difference | undefined> {
  const other = await readCheckpoint(url, signal);
  if (other.name !== name) throw new RemoteError(url, `its log is ${other.name}, not ${name}`);
  const own = await facts.checkpoint();
  // An empty tree agrees with every tree.
  if (own.size === 0 || other.size === 0) return undefined;
  const root = await facts.rootAt(other.size);
  if (root) {
    return areEqual(root, other.root) ? undefined : { size: other.size, root, otherRoot: other.root };
  }
  const proof = await readProof(url, own.size, other.size, signal);
  return isConsistent(own, other, proof) ? undefined : { ...own, otherRoot: other.root };
}

/** @throws {RemoteError} */
export async function readCheckpoint(url: string, signal: AbortSignal): Promise<RemoteCheckpoint> {
  const { root, ...checkpoint } = (await request(url, "/checkpoint", CHECKPOINT, signal)).data;
  const [name = ""] = checkpoint.note.split("\n", 1);
  return { ...checkpoint, name, root: Buffer.from(root, "hex") };
}

/**
 * Reads the proof that the tree of one size is a prefix of the tree of another.
 *
 * @throws {RemoteError}
 */
export async function readProof(url: string, from: number, to: number, signal: AbortSignal): Promise<Hash[]> {
  const { proof } = (await request(url, `/consistency?from=${from}&to=${to}`, PROOF, signal)).data;
  return proof.map((text) => Buffer.from(text, "hex"));
}

/** Requests a path of the other node's tree. */
async function request<T>(url: string, path: string, form: Form<T>, signal: AbortSignal): Promise<T> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}/api/v2/facts${path}`, {
      redirect: "error",
      headers: { accept: "application/json" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`HTTP status ${response.status}`);
    }
    return parseExternal(await readBounded(response.body, MAX_RESPONSE_BYTES), form, RESPONSE_BOUNDS);
  } catch (error) {
    const { cause, message } = error as Error;
    throw new RemoteError(url, cause instanceof Error ? `${message}: ${cause.message}` : message);
  }
}

const areEqual = (a: Hash, b: Hash): boolean => Buffer.compare(a, b) === 0;

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
