/** Inputs of the model, with their defaults and bounds. */
import { CodedError } from "../../packages/node/src/platform/coded-error.ts";

type Definition = {
  /** The option `--NAME`. */
  readonly option: string;
  readonly default: number;
  readonly least: number;
  readonly most: number;
  readonly meaning: string;
};

const define = (
  option: string,
  value: number,
  [least, most]: readonly [number, number],
  meaning: string,
): Definition => ({ option, default: value, least, most, meaning });

export const INPUTS = {
  readers: define("readers", 1_000_000, [0, 1e10], "clients that read"),
  requestsPerMinute: define("requests", 1, [0, 1e4], "requests of a reader in a minute"),
  pageShare: define("pages", 0.2, [0, 1], "share of the requests that are pages of 100 rows"),
  peak: define("peak", 3, [1, 100], "busiest minute, as a multiple of the average"),
  streams: define("streams", 100, [0, 1e7], "open live streams"),
  wallets: define("wallets", 1_000_000, [0, 1e10], "wallets at the end of the years"),
  webhooks: define("webhooks", 1_000, [0, 1e8], "registered webhooks"),
  deliveriesPerBlock: define(
    "deliveries",
    100,
    [0, 1e8],
    "deliveries of a block; the default is a tenth of --webhooks",
  ),
  attempts: define("attempts", 1.1, [1, 100], "attempts of a delivery"),
  receiverMs: define("receiver-ms", 200, [0, 60_000], "time until a receiver responds"),
  transfersPerBlock: define("transfers", 20, [0, 1e5], "transactions in a block"),
  blocksPerYear: define("blocks", 3_944_700, [1, 1e9], "blocks in a year; the default is a block every 8 s"),
  years: define("years", 10, [0, 100], "years until the disks are full"),
  cores: define("cores", 8, [1, 1_024], "cores of a machine"),
  load: define("load", 0.6, [0.05, 1], "highest share of a core that is planned"),
  networkMbit: define("network", 1_000, [1, 1e6], "network of a machine, in Mbit/s"),
  diskGb: define("disk", 4_000, [1, 1e7], "disk of a machine, in GB"),
  logDays: define("log-days", 7, [1, 3_650], "days that a delivery stays in the log (--webhook-log-days)"),
  logSize: define("log-size", 1_000_000, [1_000, 1e8], "deliveries in the log at most (--webhook-log-size)"),
} as const satisfies Readonly<Record<string, Definition>>;

export type InputName = keyof typeof INPUTS;
export type Inputs = Readonly<Record<InputName, number>>;

const NAMES = Object.keys(INPUTS) as InputName[];

export const DEFAULTS = Object.fromEntries(NAMES.map((name) => [name, INPUTS[name].default])) as Inputs;

export class InputError extends CodedError<"INPUT_INVALID"> {
  constructor(message: string) {
    super("INPUT_INVALID", message, { isRetryable: false });
  }
}

/** Options of the command line, for `parseArgs`. */
export const INPUT_OPTIONS = Object.fromEntries(
  NAMES.map((name) => [INPUTS[name].option, { type: "string" }] as const),
);

/** Share of the webhooks that a block concerns, unless the deliveries are given. */
const CONCERNED = 0.1;

/**
 * Reads the values of the options. Absent ones have their default.
 *
 * @throws {InputError} if a value is not a number within its bounds
 */
export function readInputs(values: Readonly<Record<string, unknown>>): Inputs {
  const inputs = Object.fromEntries(NAMES.map((name) => [name, readInput(INPUTS[name], values)])) as Inputs;
  return values[INPUTS.deliveriesPerBlock.option] === undefined
    ? { ...inputs, deliveriesPerBlock: inputs.webhooks * CONCERNED }
    : inputs;
}

function readInput(definition: Definition, values: Readonly<Record<string, unknown>>): number {
  const { option, least, most, meaning } = definition;
  const text = `${values[option] ?? definition.default}`;
  const value = /^\d[\d_]*(\.\d+)?(e\d+)?$/.test(text) ? Number(text.replaceAll("_", "")) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new InputError(`--${option} ${text}: must be a number from ${least} to ${most} (${meaning})`);
}

/** Lines that explain the options. */
export const explainInputs = (): string[] =>
  NAMES.map((name) => INPUTS[name]).map(
    ({ option, default: value, meaning }) => `  --${option.padEnd(12)} ${meaning} (${value})`,
  );
