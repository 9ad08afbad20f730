/**
 * Keywords that transaction schemas have beyond JSON Schema. They are called with the limits in force as
 * `this`, so that one compiled schema serves every network and height.
 */

import type { KeywordDefinition } from "ajv";
import { utf8ToBytes } from "../crypto/bytes.ts";
import { present } from "../present.ts";
import { TYPE_GROUPS } from "./type-groups.ts";
import { isSeedNode } from "./types/magistrate/seed-node.ts";

/** Limits of a schema from the network and the milestone in force. */
export type Limits = {
  networkByte: number;
  /** Bytes. */
  vendorFieldLength: number;
  multiPaymentLimit: number;
  /** True if the Strict form is checked, which refuses more than the check of a batch. */
  isStrict: boolean;
};

type Members = Record<string | number, unknown>;

/** Position of the checked value. */
type Place = { parentData: Members; parentDataProperty: string | number; rootData: unknown };

/** Largest value of amounts, fees and nonces. */
export const U63_MAX = 2n ** 63n - 1n;

/** Longer texts are not meant as a number of 64 bits. */
const MAX_NUMBER_TEXT = 1024;

/**
 * Converts a JSON value to an integer by the rules of ECMAScript (transactions.md 2).
 *
 * @throws {Error} on a fraction, a text that is not an integer, null, or an object
 */
export function bigintFromJson(value: unknown): bigint {
  if (typeof value === "string" && value.length > MAX_NUMBER_TEXT) {
    throw new RangeError("the text is too long for an integer of 64 bits");
  }
  return BigInt(value as string);
}

/** Ajv passes the position to every keyword. */
const POSITION = "the position of a value";

function replace(place: Place | undefined, value: unknown): void {
  const { parentData, parentDataProperty } = present(place, POSITION);
  parentData[parentDataProperty] = value;
}

/** transactions.md 8.1: the zero amounts and fees of a genesis block pass. */
function isGenesisAmount(place: Place | undefined): boolean {
  const { parentData, parentDataProperty, rootData } = present(place, POSITION);
  if (parentData !== rootData || parentDataProperty === "nonce") return false;
  const { id, version, timestamp } = parentData;
  return Boolean(id) && timestamp === 0 && (version === undefined || version === 1);
}

const u63: KeywordDefinition = {
  keyword: "u63",
  modifying: true,
  errors: false,
  compile({ minimum, maximum = U63_MAX }: { minimum: number; maximum?: number | bigint }) {
    return function (this: Limits, value: unknown, place?: Place) {
      if (typeof value !== "bigint") {
        if (!value && value !== 0) return false;
        try {
          value = bigintFromJson(value);
        } catch {
          return false;
        }
        replace(place, value);
      }
      const amount = value as bigint;
      if (amount >= minimum && amount <= maximum) return true;
      return isGenesisAmount(place) && (amount === 0n || amount > maximum);
    };
  },
};

const lowerCase: KeywordDefinition = {
  keyword: "lowerCase",
  type: "string",
  modifying: true,
  errors: false,
  compile: () => (value: string, place?: Place) => {
    replace(place, value.toLowerCase());
    return true;
  },
};

/** Number of the core multiPayment. */
export const MULTI_PAYMENT = 6;

/**
 * The type number. A trap of transactions.md 8.2: payments within the limit pass whichever number is
 * required, payments beyond it never do.
 */
const transactionType: KeywordDefinition = {
  keyword: "transactionType",
  errors: false,
  compile: (number: number) =>
    function (this: Limits, value: unknown, place?: Place) {
      const { typeGroup, asset } = present(place, POSITION).parentData as {
        typeGroup?: unknown;
        asset?: Members;
      };
      const isCore = !typeGroup || typeGroup === TYPE_GROUPS.core;
      if (value !== MULTI_PAYMENT || !isCore || !asset?.payments) return value === number;
      return (asset.payments as unknown[]).length <= this.multiPaymentLimit;
    },
};

const network: KeywordDefinition = {
  keyword: "network",
  errors: false,
  validate(this: Limits, _schema: true, value: unknown) {
    return value === this.networkByte;
  },
};

/** Bytes of UTF-8, not characters. */
const vendorField: KeywordDefinition = {
  keyword: "vendorField",
  type: "string",
  errors: false,
  validate(this: Limits, _schema: true, value: string) {
    return value.length <= this.vendorFieldLength && utf8ToBytes(value).length <= this.vendorFieldLength;
  },
};

const seedNode: KeywordDefinition = {
  keyword: "seedNode",
  type: "string",
  errors: false,
  validate: (_schema: true, value: string) => isSeedNode(value),
};

/** A number, or a text that begins as one: the encoder checks everything else, and in a batch everything. */
const notNegative: KeywordDefinition = {
  keyword: "notNegative",
  errors: false,
  validate(this: Limits, _schema: true, value: unknown) {
    if (!this.isStrict) return true;
    return typeof value === "string" ? !/^-\d/.test(value) : !(typeof value === "number" && value < 0);
  },
};

export const keywords: KeywordDefinition[] = [
  u63,
  lowerCase,
  transactionType,
  network,
  vendorField,
  seedNode,
  notNegative,
];
