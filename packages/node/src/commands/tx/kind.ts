/**
 * A kind of transaction: its command, the readers of its arguments, and the function that builds the transaction from them.
 * Commander adds the name of the argument to the error of a reader.
 */
import { decodeAddress, isAddress, type KeyPair, type TransactionBody } from "@uniknode/protocol";
import { Command, InvalidArgumentError } from "commander";
import { ConfigError } from "../../platform/coded-error.ts";
import { spendableUnitsOf } from "../../submission/amounts.ts";
import type { Sender } from "../../submission/sender.ts";

/** Context for building a transaction, in addition to the arguments. */
export type BuildContext = Sender & {
  /** Reads the second passphrase. */
  readonly readSecondKeys: () => Promise<KeyPair>;
  /** Reads the passphrase of a factory. */
  readonly readFactoryKeys: () => Promise<KeyPair>;
};

/** Builds the unsigned transaction. */
type Build = (context: BuildContext) => TransactionBody | Promise<TransactionBody>;

export type Kind = {
  /** Creates the command with its arguments, which throw on invalid values. */
  readonly command: () => Command;
  /** @throws {ConfigError} if the arguments contradict each other */
  readonly createBuild: (command: Command) => Build;
};

/**
 * Defines a kind. `describe` adds arguments and options; `createBuild` gets the arguments in the same order, and the
 * options by name. The compiler cannot check that both agree, so the tests call every kind.
 */
export const kind = <Arguments extends readonly unknown[], Options extends object = object>(
  name: string,
  description: string,
  describe: (command: Command) => Command,
  createBuild: (args: Arguments, options: Options) => Build,
): Kind => ({
  command: () => describe(new Command(name).description(description)),
  createBuild: (command) =>
    createBuild(command.processedArgs as unknown as Arguments, command.opts<Options>()),
});

/** Parses an amount in tokens; the result is in the smallest unit. */
export function readTokens(text: string): bigint {
  try {
    return spendableUnitsOf(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Parses the amount of a payment: more than 0. */
export function readPayable(text: string): bigint {
  const units = readTokens(text);
  if (units === 0n) throw new InvalidArgumentError("an amount of more than 0 is expected");
  return units;
}

export const readHex64 = (text: string): string =>
  matching(text, /^[0-9a-f]{64}$/, "64 hexadecimal digits are expected");

/** Checks an address of any network: the network of the node is not known yet, and `checkRecipients` checks it later. */
export function readAddress(text: string): string {
  matching(text, /^[1-9A-HJ-NP-Za-km-z]{34}$/, "an address is expected: 34 letters and digits");
  if (!isAddressOfAny(text)) {
    throw new InvalidArgumentError("invalid checksum: the address has a typo");
  }
  return text;
}

function isAddressOfAny(text: string): boolean {
  try {
    decodeAddress(text, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Refuses addresses of other networks: the chain accepts some payments to them, but no key could spend the amount.
 *
 * @throws {ConfigError} if a recipient has an address of another network
 */
export function checkRecipients({ recipientId, asset }: TransactionBody, { network, address }: Sender): void {
  const recipients = [recipientId, ...(asset?.payments ?? []).map((payment) => payment.recipientId)];
  const foreign = recipients.find(
    (recipient) => recipient !== undefined && !isAddress(recipient, network.description.pubKeyHash),
  );
  if (foreign === undefined) return;
  throw new ConfigError(
    `${foreign} is an address of another network; addresses of this network look like ${address}`,
  );
}

const MAX_MESSAGE_BYTES = 255;

export function readMessage(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_MESSAGE_BYTES) return text;
  throw new InvalidArgumentError(`up to ${MAX_MESSAGE_BYTES} bytes are expected, not ${bytes}`);
}

/** Checks an IPFS hash: base58 of a SHA-256 multihash. */
export const readMultihash = (text: string): string =>
  matching(
    text,
    /^Qm[1-9A-HJ-NP-Za-km-z]{44}$/,
    "the multihash of a file is expected: Qm followed by 44 characters",
  );

/** The bytes have 32 bits: a larger number would be reduced, and the amount locked until another time. */
const MAX_LIMIT = 0xffff_ffff;

/** Parses the height or the time until which an amount is locked. */
export function readLimit(text: string): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw new InvalidArgumentError("an integer is expected");
  if (number <= MAX_LIMIT) return number;
  throw new InvalidArgumentError(
    `at most ${MAX_LIMIT} is expected; give a time in seconds since the epoch of the network, not in milliseconds`,
  );
}

export type Payment = { readonly recipientId: string; readonly amount: bigint };

/** Parses `ADDRESS=AMOUNT`, and collects repeated arguments. */
export function readPayment(text: string, before: readonly Payment[] = []): readonly Payment[] {
  const at = text.indexOf("=");
  if (at < 0) throw new InvalidArgumentError("ADDRESS=AMOUNT is expected");
  return [
    ...before,
    { recipientId: readAddress(text.slice(0, at)), amount: readPayable(text.slice(at + 1)) },
  ];
}

/** Parses `NAME=VALUE`, and collects repeated flags. */
export function readPair(text: string, before: readonly (readonly [string, string])[] = []) {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("NAME=VALUE is expected");
  const name = text.slice(0, at);
  if (before.some(([other]) => other === name)) throw new InvalidArgumentError(`${name} is given twice`);
  return [...before, [name, text.slice(at + 1)] as const];
}

/** Collects repeated flags. */
export const readAnother = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  text,
];

const KINDS: Readonly<Record<string, number>> = { individual: 1, organization: 2, network: 3 };

export function readUnikType(text: string): number {
  const number = Object.hasOwn(KINDS, text) ? KINDS[text] : undefined;
  if (number === undefined) throw new InvalidArgumentError("individual, organization or network is expected");
  return number;
}

function matching(text: string, pattern: RegExp, expectation: string): string {
  if (!pattern.test(text)) throw new InvalidArgumentError(expectation);
  return text;
}
