/** Checkpoints (proofs.md 2): the state of trust of a verifier. */
import { createRounds, createSlots, type Rounds, type Slots } from "@uniknode/protocol";
import { isId, isIntegerIn, isPublicKey, isRecord } from "./values.ts";

/** Constants of a network that a verifier needs; a checkpoint contains them. */
export type CheckpointNetwork = {
  readonly nethash: string;
  /** First byte of addresses, which transactions contain. */
  readonly addressVersion: number;
  /** Network time zero, ISO 8601. */
  readonly epoch: string;
  /** Seconds of a slot. */
  readonly blockTime: number;
  /** Numbers of delegates, ascending by the first height of each. */
  readonly delegates: readonly { readonly height: number; readonly count: number }[];
};

/** A block that is known to be final, and the keys that are trusted to sign later ones. */
export type Checkpoint = {
  readonly network: CheckpointNetwork;
  /** Last height of the round whose generators are trusted. */
  readonly height: number;
  readonly id: string;
  /** Seconds since the epoch of the network. */
  readonly timestamp: number;
  /** Public keys of the generators of the round, ascending. */
  readonly keys: readonly string[];
};

/** Milliseconds for which a checkpoint is trusted: 30 days. */
export const TRUSTING_PERIOD_MS = 30 * 24 * 60 * 60 * 1_000;

/** Maximum number of characters of a checkpoint as text. */
const MAX_TEXT = 65_536;
/** Maximum number of delegates of a round, and of changes of this number. */
export const MAX_DELEGATES = 512;
const MAX_TIME = 0xffff_ffff;

/** `CHECKPOINT_INVALID`: the value is not a checkpoint. `CHECKPOINT_UNAVAILABLE`: a node has none yet. */
export type CheckpointErrorCode = "CHECKPOINT_INVALID" | "CHECKPOINT_UNAVAILABLE";

export class CheckpointError extends Error {
  readonly code: CheckpointErrorCode;
  readonly isRetryable: boolean;

  constructor(code: CheckpointErrorCode, message: string) {
    super(message);
    this.name = "CheckpointError";
    this.code = code;
    this.isRetryable = code === "CHECKPOINT_UNAVAILABLE";
  }
}

const invalid = (reason: string): CheckpointError =>
  new CheckpointError(
    "CHECKPOINT_INVALID",
    `the checkpoint is invalid: ${reason}; print a new one with \`uniknode checkpoint\``,
  );

/**
 * Reads a checkpoint from a text, or from the content of a file: the lines or the JSON that `uniknode checkpoint` prints.
 *
 * @throws {CheckpointError}
 */
export function parseCheckpoint(text: string): Checkpoint {
  if (text.length > MAX_TEXT) throw invalid(`it has more than ${MAX_TEXT} characters`);
  return readCheckpoint(text.trimStart().startsWith("{") ? parseJson(text) : parseLines(text));
}

/**
 * Checks a checkpoint that was parsed before, for instance one that was stored as JSON.
 *
 * @throws {CheckpointError}
 */
export function readCheckpoint(value: unknown): Checkpoint {
  if (!isRecord(value) || !isRecord(value.network)) throw invalid("members are missing");
  const { height, id, timestamp, keys } = value;
  const network = readNetwork(value.network);
  if (!isIntegerIn(height, 1, MAX_TIME)) throw invalid('"height" must be a height');
  if (!isId(id)) throw invalid('"id" must be 64 hexadecimal digits in lower case');
  if (!isIntegerIn(timestamp, 0, MAX_TIME)) throw invalid('"timestamp" must be seconds');
  const { maxDelegates } = calendarOf(network).roundAt(height);
  if (!Array.isArray(keys) || keys.length < 1 || keys.length > maxDelegates || !keys.every(isPublicKey)) {
    throw invalid(`there must be 1 to ${maxDelegates} public keys of 66 digits in lower case`);
  }
  if (new Set(keys).size !== keys.length) throw invalid("a key occurs twice");
  return { network, height, id, timestamp, keys: [...keys] };
}

function readNetwork(value: Record<string, unknown>): CheckpointNetwork {
  const { nethash, addressVersion, epoch, blockTime, delegates } = value;
  if (!isId(nethash)) throw invalid('"nethash" must be 64 hexadecimal digits in lower case');
  if (!isIntegerIn(addressVersion, 0, 255)) throw invalid('"addressVersion" must be a byte');
  if (typeof epoch !== "string" || !isTime(epoch)) throw invalid('"epoch" must be a time of ISO 8601');
  if (!isIntegerIn(blockTime, 1, 86_400)) throw invalid('"blockTime" must be 1 to 86,400 seconds');
  return { nethash, addressVersion, epoch, blockTime, delegates: readDelegates(delegates) };
}

const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text) && !Number.isNaN(Date.parse(text));

function readDelegates(value: unknown): CheckpointNetwork["delegates"] {
  const fault = invalid('"delegates" must be numbers of delegates by height, which change between rounds');
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_DELEGATES) throw fault;
  return value.map((segment: unknown, index) => {
    const last: unknown = value[index - 1];
    if (!isSegment(segment)) throw fault;
    const isNext = isSegment(last)
      ? segment.height > last.height && (segment.height - last.height) % last.count === 0
      : segment.height === 1;
    if (!isNext) throw fault;
    return { height: segment.height, count: segment.count };
  });
}

const isSegment = (value: unknown): value is { height: number; count: number } =>
  isRecord(value) && isIntegerIn(value.height, 1, MAX_TIME) && isIntegerIn(value.count, 1, MAX_DELEGATES);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("it is not JSON");
  }
}

const TITLE = "uniknode checkpoint 1";

/** Formats a checkpoint as lines, which `parseCheckpoint` reads. */
export const checkpointText = ({ network, height, id, timestamp, keys }: Checkpoint): string =>
  [
    TITLE,
    `nethash ${network.nethash}`,
    `addressVersion ${network.addressVersion}`,
    `epoch ${network.epoch}`,
    `blockTime ${network.blockTime}`,
    ...network.delegates.map((segment) => `delegates ${segment.height} ${segment.count}`),
    `height ${height}`,
    `id ${id}`,
    `timestamp ${timestamp}`,
    ...keys.map((key) => `key ${key}`),
    "",
  ].join("\n");

function parseLines(text: string): unknown {
  const [title, ...lines] = text.trim().split(/\r?\n/);
  if (title?.trim() !== TITLE) throw invalid(`its first line is not "${TITLE}"`);
  const valuesOf = (name: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1).trim()] : []));
  const numberOf = (name: string): number => Number(valuesOf(name)[0]);
  return {
    network: {
      nethash: valuesOf("nethash")[0],
      addressVersion: numberOf("addressVersion"),
      epoch: valuesOf("epoch")[0],
      blockTime: numberOf("blockTime"),
      delegates: valuesOf("delegates").map((values) => {
        const [height, count] = values.split(" ").map(Number);
        return { height, count };
      }),
    },
    height: numberOf("height"),
    id: valuesOf("id")[0],
    timestamp: numberOf("timestamp"),
    keys: valuesOf("key"),
  };
}

export type Calendar = Pick<Rounds, "roundAt"> & Pick<Slots, "slotAt" | "timeAt" | "unixMsOf">;

export function calendarOf({ delegates, epoch, blockTime }: CheckpointNetwork): Calendar {
  const milestones = delegates.map(({ height, count }) => ({ height, activeDelegates: count }));
  return {
    ...createRounds({ milestones }),
    ...createSlots({ milestoneAt: () => ({ epoch, blocktime: blockTime }) }),
  };
}
