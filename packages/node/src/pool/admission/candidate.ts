/** A received transaction in admission: the members that the first checks read, and the results of the checks (pool.md 3). */
import { type SealedTransaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { AdmissionResult } from "../../gateway/gateway.ts";
import { Refusal, type RefusalCode, SenderLimitError } from "../events.ts";

/** A received transaction before its schema is checked. */
export type Candidate = {
  /** The id as received; not trusted. */
  readonly id: string;
  readonly senderPublicKey: string;
  readonly version: number;
  readonly typeGroup: number;
  readonly type: number;
  readonly network?: number;
  readonly timestamp?: number;
  readonly expiration?: number;
  readonly recipientId?: string;
  readonly asset: Readonly<Record<string, unknown>>;
  /** The complete input. */
  readonly input: unknown;
};

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** Number of values of an expiration. */
const EXPIRATIONS = 2 ** 32;

/** The pool judges what the bytes contain: the encoder reduces integers (transactions.md 6.3). The schema refuses other numbers. */
const encodedExpiration = (value: number): number =>
  Number.isInteger(value) && value > 0 ? value % EXPIRATIONS : value;

/** Reads the valid members; missing members and members of a wrong type fail a later check. */
export function candidateFrom(input: unknown): Candidate {
  const members = record(input);
  const number = (name: string) =>
    typeof members[name] === "number" ? { [name]: members[name] as number } : undefined;
  return {
    id: text(members.id),
    senderPublicKey: text(members.senderPublicKey).toLowerCase(),
    version: members.version === 2 ? 2 : 1,
    typeGroup: typeof members.typeGroup === "number" ? members.typeGroup : TYPE_GROUPS.core,
    type: typeof members.type === "number" ? members.type : -1,
    ...number("network"),
    ...number("timestamp"),
    ...(typeof members.expiration === "number" && { expiration: encodedExpiration(members.expiration) }),
    ...(typeof members.recipientId === "string" && { recipientId: members.recipientId }),
    asset: record(members.asset),
    input,
  };
}

/** A nested member of an asset, if it is a string. */
export const assetText = (asset: Candidate["asset"], ...path: string[]): string | undefined => {
  let value: unknown = asset;
  for (const name of path) value = record(value)[name];
  return typeof value === "string" ? value : undefined;
};

export type Refused = { readonly id: string; readonly code: RefusalCode; readonly message: string };

/** Result of the checks of one request. */
export type CheckResult = {
  readonly accept: SealedTransaction[];
  readonly broadcast: SealedTransaction[];
  /** Ids as received. */
  readonly excess: string[];
  readonly refused: Refused[];
};

/** Outcome of the admission of one request. */
export type AdmissionOutcome = {
  readonly accept: readonly SealedTransaction[];
  readonly broadcast: readonly SealedTransaction[];
  readonly excess: string[];
  readonly refused: readonly Refused[];
};

export function toAdmissionResult({ accept, broadcast, excess, refused }: AdmissionOutcome): AdmissionResult {
  const errors = Map.groupBy(refused, ({ id }) => id);
  const toError = ({ code, message }: Refused) => ({ type: code, message });
  const idOf = ({ data }: SealedTransaction) => data.id;
  return {
    data: {
      accept: accept.map(idOf),
      broadcast: broadcast.map(idOf),
      excess,
      invalid: [...errors.keys()],
    },
    ...(errors.size > 0 && {
      errors: Object.fromEntries(Array.from(errors, ([id, reasons]) => [id, reasons.map(toError)])),
    }),
  };
}

/** Runs the checks of a candidate, and records a refusal in the result. Returns its code. */
export function runChecks({ id }: Candidate, result: CheckResult, test: () => void): RefusalCode | undefined {
  try {
    test();
    return undefined;
  } catch (error) {
    if (error instanceof SenderLimitError) result.excess.push(id);
    else if (error instanceof Refusal) result.refused.push({ id, code: error.code, message: error.message });
    else throw error;
    return error instanceof Refusal ? error.code : undefined;
  }
}
