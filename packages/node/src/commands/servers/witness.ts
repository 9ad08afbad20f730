/** `uniknode witness`: signs the checkpoints of nodes that agree. */
import { Command } from "commander";
import { readNodeUrls } from "../../config/define-option.ts";
import { witnessOptions } from "../../config/witness.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { ConfigError } from "../../platform/config-error.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { openOutput } from "../../platform/logging/output.ts";
import { addFlags, readConfig } from "../options.ts";
import { printLines } from "../print.ts";

const NOTES = `
Compares the trees of facts of the nodes every few seconds, and signs the largest checkpoint that contains all others and every one it
signed before. It shows the signed checkpoint at /api/v2/facts/checkpoint, health at /health/ready and metrics at /metrics. Its key is
in the log and at /health/status: clients count it with "resolve" of @uniknode/client/proofs. docs/guides/proofs.md has an example.`;

export function witnessCommand(): Command {
  const command = new Command("witness")
    .argument("<url...>", "base URLs of nodes, best of different operators")
    .addHelpText("after", NOTES);
  return addFlags(command, witnessOptions).action(async (given: string[]) => {
    const config = readConfig(command, witnessOptions);
    const urls = readUrls(given);
    const log = openLog(config.logLevel, config.logFormat);
    // Loads the HTTP server.
    const { openWitness, startWitness } = await import("../../processes/witness/witness.ts");
    if (config.once) {
      const { witness, lock } = openWitness(urls, config, log.logger);
      printSigned(await witness.round(new AbortController().signal), witness.signed()?.note);
      return lock.release();
    }
    const output = openOutput();
    await serveUntilStopped({
      log,
      async start() {
        const served = await startWitness(urls, config, log.logger);
        output.write(`${served.url}\n`);
        return served;
      },
    });
  });
}

/** @throws {ConfigError} */
function readUrls(given: readonly string[]): readonly string[] {
  try {
    return readNodeUrls(given.join(","));
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** @throws {CodedError} if nothing can be signed */
function printSigned(
  {
    differing,
    agreed,
    failed,
  }: {
    differing: readonly string[];
    agreed: readonly string[];
    failed: readonly { url: string; error: Error }[];
  },
  note: string | undefined,
): void {
  const reasons = failed.map(({ url, error }) => `${url}: ${error.message}`);
  if (differing.length > 0)
    throw unsigned(
      `the trees of facts differ: ${differing.join(", ")}; compare these nodes with a third one`,
    );
  if (agreed.length === 0 || note === undefined)
    throw unsigned(["too few nodes have a checkpoint", ...reasons].join("; "));
  printLines(note.trimEnd().split("\n"));
}

const unsigned = (message: string): CodedError<"WITNESS"> =>
  new CodedError("WITNESS", message, { isRetryable: true });
