/** Command of a kind of transaction: its arguments, and a function that builds the transaction from them. */
import type { KeyPair, TransactionBody } from "@uniknode/protocol";
import { Command } from "commander";
import type { Sender } from "../../submission/sender.ts";

/** Context for building a transaction, in addition to the arguments. */
export type BuildContext = Sender & {
  /** Reads the second passphrase. */
  readonly readSecondKeys: () => Promise<KeyPair>;
  /** Reads the passphrase of a factory. */
  readonly readFactoryKeys: () => Promise<KeyPair>;
};

/** Builds the unsigned transaction. */
export type Build = (context: BuildContext) => TransactionBody | Promise<TransactionBody>;

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
