/** Signs checkpoints of nodes whose trees of facts are consistent with each other and with every tree it signed before. */
import { readNote, signersOf } from "@uniknode/client/proofs";
import type { Logger } from "pino";
import type { RemoteCheckpoint } from "../facts/comparison/remote.ts";
import { EMPTY_ROOT } from "../facts/merkle/hashes.ts";
import { CodedError } from "../platform/coded-error.ts";
import type { Cosigner } from "./cosigner.ts";
import { type Judgement, judge, readAll, type Tree } from "./judge.ts";
import { readState, type WitnessState, writeState } from "./state-file.ts";

export type WitnessOptions = {
  /** Base URLs of the nodes. */
  readonly urls: readonly string[];
  /** Number of nodes that must agree. */
  readonly minNodes: number;
  /** File of the state. */
  readonly path: string;
};

export type WitnessDeps = {
  readonly cosigner: Cosigner;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
};

export type Witness = {
  /** Returns the last signed checkpoint. */
  signed(): WitnessState | undefined;
  /** Returns the result of the last round; undefined before it. */
  last(): Judgement | undefined;
  /** Compares all nodes once, and signs the largest tree if they agree. Never rejects, unless the file cannot be written. */
  round(signal: AbortSignal): Promise<Judgement>;
};

/** A witness cannot sign the checkpoint of a node. */
class UnusableError extends CodedError<"CHECKPOINT_UNUSABLE"> {
  constructor(message: string) {
    super("CHECKPOINT_UNUSABLE", message, { isRetryable: true });
  }
}

/** @throws {DataError} DATA_DAMAGED if the file of the state cannot be read */
export function createWitness({ urls, minNodes, path }: WitnessOptions, deps: WitnessDeps): Witness {
  const { logger } = deps;
  let state = readState(path);
  let last: Judgement | undefined;

  async function round(signal: AbortSignal): Promise<Judgement> {
    const readings = await readAll(urls, (url, checkpoint) => checkNote(url, checkpoint, state), signal);
    const log = state?.log ?? firstLog(readings);
    const ofLog = readings.map((reading) =>
      "checkpoint" in reading && reading.checkpoint.name !== log
        ? { url: reading.url, error: new UnusableError(`its log is ${reading.checkpoint.name}, not ${log}`) }
        : reading,
    );
    const judgement = await judge(ofLog, { signed: treeOf(state), minNodes }, signal);
    report(judgement, last, logger);
    const { checkpoint } = judgement;
    if (checkpoint && log !== undefined && checkpoint.size > (state?.size ?? 0)) {
      const next = { ...stateOf(checkpoint, deps), log, keys: keysOf(ofLog, state) };
      // A signature that was shown and then forgotten could be followed by one of another history.
      writeState(path, next);
      state = next;
      logger.info({ height: state.height, size: state.size, root: state.root }, "checkpoint signed");
    }
    last = judgement;
    return judgement;
  }

  return { signed: () => state, last: () => last, round };
}

const treeOf = (state: WitnessState | undefined): Tree =>
  state ? { size: state.size, root: Buffer.from(state.root, "hex") } : { size: 0, root: EMPTY_ROOT };

const firstLog = (readings: Awaited<ReturnType<typeof readAll>>): string | undefined =>
  readings.flatMap((reading) => ("checkpoint" in reading ? [reading.checkpoint.name] : []))[0];

/** @throws {Error} if the node did not sign the checkpoint, or not with the key of its first response */
function checkNote(url: string, checkpoint: RemoteCheckpoint, state: WitnessState | undefined): void {
  const note = readNote(checkpoint.note);
  const isOfNote =
    note.size === checkpoint.size && note.root === Buffer.from(checkpoint.root).toString("hex");
  if (!isOfNote) throw new UnusableError("its note is of another tree than its response");
  if (signersOf(note, [checkpoint.verifierKey]).length === 0)
    throw new UnusableError("it has not signed its note");
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
    ...{ format: 1, size, height },
    root: Buffer.from(root).toString("hex"),
    note: note + signature,
  };
}

const keysOf = (
  readings: Awaited<ReturnType<typeof readAll>>,
  state: WitnessState | undefined,
): WitnessState["keys"] => ({
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
      "trees of facts differ: a node shows another history than before, or than another node; nothing is signed until they agree",
    );
  }
  if (differing.length === 0 && (before?.differing.length ?? 0) > 0)
    logger.info("trees of facts agree again");
  const known = new Set(before?.failed.map(({ url }) => url));
  for (const { url, error } of failed) {
    if (!known.has(url)) logger.warn({ url, err: error }, `no checkpoint of ${url}`);
  }
}
