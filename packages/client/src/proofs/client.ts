/** A client that verifies what it returns. */
import { type Client, type ClientOptions, createClient } from "../api/client.ts";
import type { UnikResolution } from "../api/resources/uniks.ts";
import { type AuditedWebhook, type AuditOptions, type AuditReport, audit } from "./audit/audit.ts";
import { createTileReader } from "./audit/tiles.ts";
import { readNote } from "./resolution/note.ts";
import { digestOf, FIRST, LIFE_CYCLE, TYPE } from "./resolution/pages.ts";
import type { ResolutionVerdict } from "./resolution/verdict.ts";
import { type ResolutionOptions, verifyResolution, type WitnessedCheckpoint } from "./resolution/verify.ts";

export type VerifyingClient = ReturnType<typeof createVerifyingClient>;

export type ResolveOptions = Pick<ResolutionOptions, "minSigners" | "minHeight" | "properties"> & {
  /** Base URLs of witnesses and other nodes, whose checkpoints count as well. One that does not respond does not count. */
  readonly witnesses?: readonly string[];
};

/**
 * Creates a client of the node at a URL, with functions that verify the responses: the node need not be trusted.
 *
 * @throws {TypeError} when the URL is invalid
 */
export function createVerifyingClient(options: ClientOptions) {
  const client = createClient(options);
  // The token is for the node alone.
  const { webhookToken: _, ...others } = options;

  const witnessOf = (url: string) => createClient({ ...others, url });
  const resolver = (unik: string, rules: ResolveRules) => createResolver({ client, witnessOf }, unik, rules);

  return {
    ...client,
    /**
     * Requests a unik with all its properties, or those with the given names, and verifies it with the keys of nodes and witnesses.
     *
     * @param unik id, 64 hexadecimal digits
     * @throws {ApiError} if the node does not respond with a resolution
     * @throws {TypeError} for malformed keys
     */
    resolve: (
      unik: string,
      keys: ResolutionOptions["keys"],
      { properties, ...options }: ResolveOptions = {},
    ): Promise<ResolutionVerdict> => resolveAll(resolver(unik, { ...options, keys }), properties),
    /**
     * Requests the properties of a unik page by page, and verifies each page. Its `properties` are those of the page, and `next` is null in
     * the last one. A page with another `root` than the first is of a later state.
     *
     * @throws as `resolve`
     */
    resolvePages: (
      unik: string,
      keys: ResolutionOptions["keys"],
      options: Omit<ResolveOptions, "properties"> = {},
    ): AsyncGenerator<ResolutionVerdict> => pagesFrom(resolver(unik, { ...options, keys })),
    /**
     * Compares what a receiver of a webhook accepted with all facts of final blocks, which a signed checkpoint proves to be complete.
     *
     * @param from first height
     * @param to last height, at most that of the node's checkpoint
     * @throws {TypeError} for a webhook with conditions without `matches`, malformed keys or heights
     * @throws {RangeError} for too many facts: audit fewer blocks at once
     * @throws {ApiError | Error} if the node does not respond, or limits the rate
     */
    audit(webhook: AuditedWebhook, from: number, to: number, rules: AuditOptions): Promise<AuditReport> {
      return audit(webhook, { from, to }, rules, {
        checkpoint: async () => (await client.facts.checkpoint()).data.note,
        tile: createTileReader(options),
        facts: (events, fromHeight, options) => client.events.stream({ events, fromHeight, ...options }),
      });
    },
  };
}

type ResolveRules = Omit<ResolveOptions, "properties"> & Pick<ResolutionOptions, "keys">;

/** Returns a function that requests pages of a unik and verifies them, with the checkpoints of witnesses. */
function createResolver(
  { client, witnessOf }: { client: Client; witnessOf: (url: string) => Client },
  unik: string,
  { witnesses = [], ...rules }: ResolveRules,
): Resolve {
  // Most pages are of one round: its leaf is requested once.
  let witnessed: { readonly leaf: unknown; readonly found: WitnessedCheckpoint[] } | undefined;
  return async (from, shown) => {
    const { data } = await client.uniks.resolution(unik, from);
    // A false node can return another form, which the verdict names.
    const leaf = (data as Partial<UnikResolution>).leaf?.index;
    if (witnessed === undefined || witnessed.leaf !== leaf) {
      const found = witnesses.map((url) => readWitness(witnessOf(url), client, data).catch(() => []));
      witnessed = { leaf, found: (await Promise.all(found)).flat() };
    }
    return verifyResolution(data, { ...rules, ...shown, id: unik, witnessed: witnessed.found });
  };
}

/**
 * Reads the checkpoint of a witness, and the proof that its tree has the leaf of a resolution, which any node can give. Rejects if one
 * of them does not respond.
 */
async function readWitness(
  witness: Client,
  node: Client,
  { leaf }: UnikResolution,
): Promise<WitnessedCheckpoint[]> {
  const { note } = (await witness.facts.checkpoint()).data;
  const { size } = readNote(note);
  // The witness has not signed the last round yet.
  if (leaf.index >= size) return [];
  const { data } = await node.facts.proof(leaf.index, { size });
  return [{ note, proof: data.proof }];
}

/** Requests pages of a unik from some digests on, and verifies them. */
type Resolve = (
  from: readonly string[],
  rules: Pick<ResolutionOptions, "from" | "properties">,
) => Promise<ResolutionVerdict>;

type Proven = Extract<ResolutionVerdict, { readonly verdict: "proven" }>;

/** Digests that each resolution must show. */
const ALWAYS: readonly string[] = [TYPE, LIFE_CYCLE].map(digestOf);
/** A node returns 16 pages at once. */
const MAX_NAMES = 16 - ALWAYS.length;
/** A unik whose properties change between two pages is requested again. */
const MAX_STATES = 8;

/** Yields a verdict for each page, in the order of digests. */
async function* pagesFrom(resolve: Resolve): AsyncGenerator<ResolutionVerdict> {
  for (let from: string | null = FIRST; from !== null; ) {
    const verdict: ResolutionVerdict = await resolve([from, ...ALWAYS], { from });
    yield verdict;
    from = verdict.verdict === "proven" ? (verdict.unik?.next ?? null) : null;
  }
}

/** Yields verdicts that show all properties with the given names. */
async function* pagesOfNames(resolve: Resolve, names: readonly string[]): AsyncGenerator<ResolutionVerdict> {
  for (let first = 0; first === 0 || first < names.length; first += MAX_NAMES) {
    const properties = names.slice(first, first + MAX_NAMES);
    yield await resolve([...properties.map(digestOf), ...ALWAYS], { properties });
  }
}

/** Returns the verdict with all properties, or with those of the given names. */
async function resolveAll(
  resolve: Resolve,
  names: readonly string[] | undefined,
): Promise<ResolutionVerdict> {
  for (let state = 0; state < MAX_STATES; state++) {
    const verdict = await merge(names ? pagesOfNames(resolve, names) : pagesFrom(resolve));
    if (verdict) return verdict;
  }
  return {
    verdict: "refused",
    step: "PROPERTIES",
    reason: `the properties changed ${MAX_STATES} times between two pages: resolve the unik again, or page by page`,
  };
}

/** Returns undefined if the properties changed between two pages. */
async function merge(verdicts: AsyncIterable<ResolutionVerdict>): Promise<ResolutionVerdict | undefined> {
  const properties: [name: string, value: string][] = [];
  let last: Proven | undefined;
  for await (const verdict of verdicts) {
    if (verdict.verdict !== "proven" || !verdict.unik) return verdict;
    if (last && verdict.unik.root !== last.unik?.root) return undefined;
    for (const entry of Object.entries(verdict.unik.properties)) properties.push(entry);
    last = verdict;
  }
  if (!last?.unik) return last;
  return { ...last, unik: { ...last.unik, properties: Object.fromEntries(properties) } };
}
