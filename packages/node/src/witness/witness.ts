/**
 * Signs the largest tree of facts that enough nodes contain, if it contains every tree that was signed before. The last signed tree
 * is in a file, which is replaced before the signature is shown.
 */
import { existsSync, readFileSync } from "node:fs";
import { readNote, signersOf } from "@uniknode/client/proofs";
import type { Logger } from "pino";
import { EMPTY_ROOT } from "../facts/merkle/proofs.ts";
import { CodedError } from "../platform/coded-error.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { FILE_BOUNDS, parseExternal } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { DataError } from "../store/engine/data-error.ts";
import type { Cosigner } from "./cosigner.ts";
import { type Judgement, judge, type Read, type Reading, readAll, type Tree } from "./judge.ts";
import type { RemoteCheckpoint } from "./remote-tree.ts";

const MAX_NOTE = 65_536;
const MAX_NODES = 64;
/** Maximum number of stored checkpoints that contradict the signed one: the file stays within the bound of files. */
const MAX_CONTRADICTING = 8;

const schema = Type.Object({
  format: Type.Literal(1),
  /** Name of the log, which contains the nethash. */
  log: Type.String({ minLength: 1, maxLength: 256 }),
  size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  root: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  height: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  /** The signed note, with all signatures. */
  note: Type.String({ maxLength: MAX_NOTE }),
  /** Key of each node, by URL, from its first response on. */
  keys: Type.Record(Type.String({ maxLength: 2_048 }), Type.String({ maxLength: 1_024 }), {
    maxProperties: MAX_NODES,
  }),
  /** Signed checkpoints of nodes whose tree does not contain the signed one; the witness shows nothing while there are some. */
  contradictedBy: Type.Optional(
    Type.Array(
      Type.Object({ url: Type.String({ maxLength: 2_048 }), note: Type.String({ maxLength: MAX_NOTE }) }),
      { maxItems: MAX_CONTRADICTING },
    ),
  ),
});

export type WitnessState = Static<typeof schema>;

const FORM = formOf(schema);

/** @throws {DataError} DATA_DAMAGED */
function readState(path: string): WitnessState | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return parseExternal(readFileSync(path, "utf8"), FORM, FILE_BOUNDS);
  } catch (error) {
    throw new DataError(
      "DATA_DAMAGED",
      `${path} cannot be read (${(error as Error).message}): start anew with another --data, which creates another key: with this key, even with a backup of the file, the witness could sign a tree that contradicts the one it signed`,
    );
  }
}

const writeState = (path: string, state: WitnessState): void =>
  writeWholeFile(path, `${JSON.stringify(state, null, 2)}\n`);

type WitnessOptions = {
  /** Base URLs of the nodes. */
  readonly urls: readonly string[];
  /** Number of nodes with different keys that must contain a tree. */
  readonly minNodes: number;
  /** File of the state. */
  readonly path: string;
};

type WitnessDeps = {
  readonly cosigner: Cosigner;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
};

/** A witness cannot sign the checkpoint of a node. */
class UnusableError extends CodedError<"CHECKPOINT_UNUSABLE"> {
  constructor(message: string) {
    super("CHECKPOINT_UNUSABLE", message, { isRetryable: true });
  }
}

export class Witness {
  readonly #options: WitnessOptions;
  readonly #deps: WitnessDeps;
  #state: WitnessState | undefined;
  #last: Judgement | undefined;

  /** @throws {DataError} DATA_DAMAGED if the file of the state cannot be read */
  constructor(options: WitnessOptions, deps: WitnessDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#state = readState(options.path);
  }

  /** Returns the last signed checkpoint. */
  signed(): WitnessState | undefined {
    return this.#state;
  }

  /** Returns the result of the last round; undefined before it. */
  last(): Judgement | undefined {
    return this.#last;
  }

  /** Compares all nodes once, and signs the largest tree that enough of them contain. Never rejects, unless the file cannot be written. */
  async round(signal: AbortSignal): Promise<Judgement> {
    const { urls, minNodes } = this.#options;
    const state = this.#state;
    const readings = await readAll(
      urls,
      (url, checkpoint) => checkNote(url, checkpoint, this.#state),
      signal,
    );
    const log = state?.log ?? logOfMost(readings);
    const ofLog = readings.map((reading) =>
      "checkpoint" in reading && reading.checkpoint.name !== log
        ? { url: reading.url, error: new UnusableError(`its log is ${reading.checkpoint.name}, not ${log}`) }
        : reading,
    );
    const judgement = await judge(ofLog, { signed: treeOf(state), minNodes }, signal);
    report(judgement, this.#last, this.#deps.logger);
    this.#noteContradiction(judgement);
    const { checkpoint } = judgement;
    if (checkpoint && log !== undefined) this.#sign(checkpoint, log, ofLog);
    this.#last = judgement;
    return judgement;
  }

  /** Stores that nodes contradict the signed tree, or that they contain it again. */
  #noteContradiction({ checkpoint, contradiction }: Judgement): void {
    const state = this.#state;
    const { logger } = this.#deps;
    if (state && contradiction && !state.contradictedBy) {
      const contradictedBy = contradiction.slice(0, MAX_CONTRADICTING).map(evidenceOf);
      this.#store({ ...state, contradictedBy });
      logger.error(
        { signed: state.note, contradictedBy },
        `${this.#options.minNodes} nodes contradict the tree that this witness signed: it shows and signs nothing until they contain it. The file of the state has both signed checkpoints; if the signed tree is the wrong one, start anew with another --data`,
      );
    } else if (state?.contradictedBy && checkpoint && checkpoint.size >= state.size) {
      const { contradictedBy: _, ...agreed } = state;
      this.#store(agreed);
      logger.info("enough nodes contain the signed tree again");
    }
  }

  /** Signs a checkpoint that is larger than the signed one. */
  #sign(checkpoint: RemoteCheckpoint, log: string, readings: readonly Reading[]): void {
    if (checkpoint.size <= (this.#state?.size ?? 0)) return;
    const next = { ...stateOf(checkpoint, this.#deps), log, keys: keysOf(readings, this.#state) };
    this.#store(next);
    this.#deps.logger.info({ height: next.height, size: next.size, root: next.root }, "checkpoint signed");
  }

  #store(next: WitnessState): void {
    // A signature that was shown and then forgotten could be followed by one of another history.
    writeState(this.#options.path, next);
    this.#state = next;
  }
}

const treeOf = (state: WitnessState | undefined): Tree =>
  state ? { size: state.size, root: Buffer.from(state.root, "hex") } : { size: 0, root: EMPTY_ROOT };

const evidenceOf = ({ url, checkpoint: { note } }: Read) => ({ url, note });

/** Returns the log of the most nodes with different keys. */
function logOfMost(readings: readonly Reading[]): string | undefined {
  const keys = new Map<string, Set<string>>();
  for (const reading of readings) {
    if ("error" in reading) continue;
    const { name, verifierKey } = reading.checkpoint;
    keys.set(name, (keys.get(name) ?? new Set()).add(verifierKey));
  }
  return [...keys].toSorted(([, a], [, b]) => b.size - a.size)[0]?.[0];
}

/** @throws {Error} if the node did not sign the checkpoint, or not with the key of its first response */
function checkNote(url: string, checkpoint: RemoteCheckpoint, state: WitnessState | undefined): void {
  const note = readNote(checkpoint.note);
  const isOfNote =
    note.size === checkpoint.size && note.root === Buffer.from(checkpoint.root).toString("hex");
  if (!isOfNote) throw new UnusableError("its note is of another tree than its response");
  // The key of a node has the name of its log; another witness would only repeat the checkpoint of a node.
  const isOfNode = checkpoint.verifierKey.startsWith(`${note.origin}+`);
  if (!isOfNode || signersOf(note, [checkpoint.verifierKey]).length === 0)
    throw new UnusableError("it has not signed its note with the key of a node");
  const known = state?.keys[url];
  if (known !== undefined && known !== checkpoint.verifierKey)
    throw new UnusableError(
      `it signs with another key than before: if its operator confirms the change, remove ${url} from "keys" in the file of the state`,
    );
}

function stateOf(
  { size, root, height, note }: RemoteCheckpoint,
  { cosigner, nowMs }: WitnessDeps,
): Omit<WitnessState, "log" | "keys"> {
  const { text } = readNote(note);
  const signature = cosigner.cosign(text, Math.floor(nowMs() / 1_000));
  return {
    format: 1,
    size,
    height,
    root: Buffer.from(root).toString("hex"),
    note: note + signature,
  };
}

const keysOf = (readings: readonly Reading[], state: WitnessState | undefined): WitnessState["keys"] => ({
  ...Object.fromEntries(
    readings.flatMap((reading) =>
      "checkpoint" in reading ? [[reading.url, reading.checkpoint.verifierKey]] : [],
    ),
  ),
  ...state?.keys,
});

/** Logs what changed since the last round. */
function report(now: Judgement, before: Judgement | undefined, logger: WitnessDeps["logger"]): void {
  const { differing, failed } = now;
  if (differing.length > 0 && before?.differing.join() !== differing.join()) {
    logger.error(
      { nodes: differing },
      "trees of facts differ: a node shows another history than before, or than other nodes",
    );
  }
  if (differing.length === 0 && (before?.differing.length ?? 0) > 0)
    logger.info("trees of facts agree again");
  const known = new Set(before?.failed.map(({ url }) => url));
  for (const { url, error } of failed) {
    if (!known.has(url)) logger.warn({ url, err: error }, `no checkpoint of ${url}`);
  }
}
