/** The form of a block object (blocks.md 6). */
import type { Network } from "../networks/network.ts";
import type { BlockHeader } from "./block.ts";
import { hasFullId } from "./header.ts";

/** A JSON object whose members are not validated yet. */
export type UntrustedObject = Record<string, unknown>;

type Rule = (value: unknown, block: { height: number; network: Network }) => boolean;

const U63_MAX = 0x7fff_ffff_ffff_ffffn;

const isIntegerFrom =
  (minimum: number): Rule =>
  (value) =>
    Number.isInteger(value) && (value as number) >= minimum;

/** Trap A26: 32 bits are written, and nodes of the network store them as a signed number. */
const isPayloadLength: Rule = (value) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) % 2 ** 32 < 2 ** 31;

const isHex: Rule = (value) => typeof value === "string" && /^[0-9a-fA-F]+$/.test(value);

const isPublicKey: Rule = (value) => typeof value === "string" && /^[0-9a-fA-F]{66}$/.test(value);

/** Plain decimal text or an exact number, not above 2^63 - 1. */
const isAmount: Rule = (value) => isInteger(value) && BigInt(value) <= U63_MAX;

/** The genesis block has no maximum. */
const isTotal: Rule = (value, block) => (block.height === 1 ? isInteger(value) : isAmount(value, block));

const isInteger = (value: unknown): value is string | number | bigint =>
  typeof value === "string"
    ? /^[0-9]{1,20}$/.test(value)
    : (typeof value === "bigint" || Number.isSafeInteger(value)) && (value as number | bigint) >= 0;

const isId =
  (heightOf: (height: number) => number): Rule =>
  (value, { height, network }) => {
    if (typeof value !== "string") return false;
    const form = hasFullId(heightOf(height), network)
      ? /^[0-9a-fA-F]{64}$/
      : /^([0-9]{1,20}|[0-9a-fA-F]{16})$/;
    return form.test(value);
  };

const isOwnId = isId((height) => height);
const isIdBelow = isId((height) => height - 1);

/** The parent of the genesis block: null, empty or zero. */
const isPreviousId: Rule = (value, block) =>
  block.height === 1 ? isNothing(value) : isIdBelow(value, block);

const isNothing = (value: unknown): boolean =>
  value === null || value === 0 || (typeof value === "string" && Number(value) === 0);

const optional =
  (rule: Rule): Rule =>
  (value, block) =>
    value === undefined || rule(value, block);

/** `height` comes first: the form of the others depends on it. */
const rules = {
  height: isIntegerFrom(1),
  id: isOwnId,
  idHex: optional(isOwnId),
  version: isIntegerFrom(0),
  timestamp: isIntegerFrom(0),
  previousBlock: isPreviousId,
  previousBlockHex: optional(isPreviousId),
  numberOfTransactions: optional(isIntegerFrom(0)),
  totalAmount: isTotal,
  totalFee: isTotal,
  reward: isAmount,
  payloadLength: isPayloadLength,
  payloadHash: isHex,
  generatorPublicKey: isPublicKey,
  blockSignature: isHex,
} satisfies Record<string, Rule>;

/** Path of the first member of a header, read from bytes, that has a wrong form. Reading ensures the rules of the others. */
export function decodedHeaderViolation(header: BlockHeader, network: Network): string | undefined {
  const { height, previousBlock, totalAmount, totalFee, reward, payloadLength } = header;
  const block = { height, network };
  if (!rules.height(height, block)) return ".height";
  if (!rules.previousBlock(previousBlock, block)) return ".previousBlock";
  if (!rules.totalAmount(totalAmount, block)) return ".totalAmount";
  if (!rules.totalFee(totalFee, block)) return ".totalFee";
  if (!rules.reward(reward, block)) return ".reward";
  return rules.payloadLength(payloadLength, block) ? undefined : ".payloadLength";
}

/** Path of the first member of a header that is missing or has a wrong form. */
export function headerViolation(block: UntrustedObject, network: Network): string | undefined {
  const height = block.height as number;
  const broken = Object.entries(rules).find(([member, rule]) => !rule(block[member], { height, network }));
  return broken && `.${broken[0]}`;
}
