/** Constraints on the properties of tokens (state.md 3.3). */
import { type NftToken, utf8ToBytes } from "@uniknode/protocol";
import type { StateReader } from "../../state/tables.ts";
import { refusal } from "./common.ts";
import { RuleError } from "./error.ts";
import { KIND_TEXTS } from "./kinds.ts";
import { getProperty, TYPE } from "./properties.ts";

/** The only name that has constraints. */
const UNIK = "unik";

const MAX_VALUE_BYTES = 255;

/** The comma is included, because the pattern of the network has a range from plus to dot (trap A12). */
const KEY_PATTERN = /^[a-zA-Z0-9+,\-./_]+$/;
/** The pattern as in the messages of refusals. */
const KEY_PATTERN_TEXT = String.raw`/^[a-zA-Z0-9+-\.\/\_]+$/`;

/**
 * Refuses values longer than 255 bytes of UTF-8.
 *
 * @throws {RuleError} NftPropertyTooLongError
 */
export function checkSizes({ properties = {} }: NftToken): void {
  for (const [key, value] of Object.entries(properties)) {
    if (value !== null && utf8ToBytes(value).length > MAX_VALUE_BYTES) {
      throw refusal(
        "NftPropertyTooLongError",
        `property '${key}' exceed the maximum allowed size of ${MAX_VALUE_BYTES} bytes`,
      );
    }
  }
}

/**
 * Step 3: a unik cannot be minted without its type. A token of another name needs at least one property.
 *
 * @throws {RuleError} ConstraintError
 */
export function checkGenesisProperties(name: string, { properties }: NftToken): void {
  const isComplete = name === UNIK ? Object.hasOwn(properties ?? {}, TYPE) : properties !== undefined;
  if (!isComplete) throw new RuleError("ConstraintError", "some genesis properties are missing");
}

/**
 * Steps 1 and 2, property by property in the order of the asset.
 *
 * @throws {RuleError} ConstraintError
 */
export function checkConstraints(state: StateReader, name: string, token: NftToken): void {
  // Trap A28: the network looks the constraints of a name up in an object.
  const hasProperties = Object.keys(token.properties ?? {}).length > 0;
  if (name in Object.prototype && hasProperties)
    throw new RuleError("ConstraintError", `no token can have the name "${name}"`);
  if (name !== UNIK) return;
  for (const [key, value] of Object.entries(token.properties ?? {})) {
    // 1
    if (!KEY_PATTERN.test(key)) {
      throw violation(key, `pattern regex (key: '${key}', pattern: ${KEY_PATTERN_TEXT})`);
    }
    if (key === TYPE) checkType(state, token.tokenId, value);
  }
}

function checkType(state: StateReader, tokenId: string, value: string | null): void {
  // 2: even for its current value, and for its deletion (trap A12)
  if (getProperty(state, tokenId, TYPE) !== undefined) throw violation(TYPE, "immutable");
  if (value === null || !KIND_TEXTS.includes(value)) throw violation(TYPE, "enumeration");
}

const violation = (key: string, detail: string): RuleError =>
  new RuleError("ConstraintError", `Constraint violation on property '${key}' (${detail})`);
