/** `assumeValid`: the block up to which the signatures of fetched blocks are not checked (decision 39). */
import type { NetworkDescription } from "@uniknode/protocol";
import { type Pin, pinText } from "../chain/assumption.ts";

/** Disables the option. */
const NONE = "none";
const FORM = /^([1-9]\d{0,9}):([0-9a-f]{64})$/;
/** Heights have 32 bits. The genesis block is always known. */
const HEIGHTS = { first: 2, last: 0xffffffff };

/** @throws {Error} with a message that names the expected value */
export function readAssumeValid(value: unknown): string {
  if (value === NONE) return NONE;
  const pin = typeof value === "string" ? pinOf(value) : undefined;
  if (pin) return pinText(pin);
  throw new Error(
    "none or HEIGHT:ID is expected: a height of 2 or more, and the block id as 64 lower-case hexadecimal digits",
  );
}

function pinOf(text: string): Pin | undefined {
  const [, digits, id] = FORM.exec(text) ?? [];
  const height = Number(digits);
  return id !== undefined && height >= HEIGHTS.first && height <= HEIGHTS.last ? { height, id } : undefined;
}

/**
 * Returns the pin of the option, or that of the network. A node that forges vouches for its blocks, so it
 * uses only an explicit pin.
 *
 * @param given value of the option
 */
export function choosePin(
  given: string | undefined,
  { assumeValid }: Pick<NetworkDescription, "assumeValid">,
  { forges }: { readonly forges: boolean },
): Pin | undefined {
  const chosen = given ?? (forges ? undefined : assumeValid);
  return chosen === undefined ? undefined : pinOf(chosen);
}
