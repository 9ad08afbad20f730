/** The command of a kind of transaction: its arguments, and how to build the transaction from them. */
import type { KeyPair, TransactionBody } from "@uniknode/protocol";
import { Command } from "commander";
import type { Sender } from "../../submission/sender.ts";

/** What building a transaction may need in addition to the arguments. */
export type BuildContext = Sender & {
  /** Reads the second passphrase. */
  readonly readSecondKeys: () => Promise<KeyPair>;
  /** Reads the passphrase of a factory. */
  readonly readFactoryKeys: () => Promise<KeyPair>;
};

/** Builds the unsigned transaction. */
export type Build = (context: BuildContext) => TransactionBody | Promise<TransactionBody>;

export type Kind = {
  /** The command with its arguments; these throw for values that they cannot read. */
  readonly command: () => Command;
  /** @throws {ConfigError} when the arguments contradict each other */
  readonly createBuild: (command: Command) => Build;
};

/**
 * `describe` adds arguments and options; `createBuild` gets their values in the same order and by name. The compiler cannot
 * check that these agree: the tests call every kind.
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
