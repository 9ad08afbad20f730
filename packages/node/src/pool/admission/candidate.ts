/** A received transaction before its schema is checked: the members that the first checks read. */
import { TYPE_GROUPS } from "@uniknode/protocol";

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
    ...number("expiration"),
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
