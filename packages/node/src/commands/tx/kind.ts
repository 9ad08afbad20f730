/** A kind of transaction as a command: its arguments, and how they become a transaction. */
import type { KeyPair, TransactionBody } from "@uniknode/protocol";
import { Command } from "commander";
import type { Sender } from "../../submission/sender.ts";

/** What a kind may ask for beside its arguments. */
export type Given = Sender & {
  /** Asks for the second passphrase. */
  readonly readSecondKeys: () => Promise<KeyPair>;
  /** Asks for the passphrase of a factory. */
  readonly readFactoryKeys: () => Promise<KeyPair>;
};

/** Makes the unsigned transaction. */
export type Build = (given: Given) => TransactionBody | Promise<TransactionBody>;

export type Kind = {
  /** The command with its arguments, which refuse what they cannot read. */
  readonly command: () => Command;
  /** @throws {ConfigError} when what the command has read makes no sense together */
  readonly buildOf: (command: Command) => Build;
};

/**
 * `describe` adds arguments and options; `buildOf` gets their values in the same order and by name. The compiler cannot
 * know that these agree: the tests call every kind.
 */
export const kind = <Arguments extends readonly unknown[], Options extends object = object>(
  name: string,
  description: string,
  describe: (command: Command) => Command,
  buildOf: (args: Arguments, options: Options) => Build,
): Kind => ({
  command: () => describe(new Command(name).description(description)),
  buildOf: (command) => buildOf(command.processedArgs as unknown as Arguments, command.opts<Options>()),
});
