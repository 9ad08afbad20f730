/** `uniknode witness`: signs the checkpoints of nodes that agree. */
import { Command } from "commander";
import { readNodeUrls } from "../config/define-option.ts";
import { witnessOptions } from "../config/witness.ts";
import { CodedError, ConfigError } from "../platform/coded-error.ts";
import { serveUntilStopped } from "../platform/lifecycle/process.ts";
import { openLog } from "../platform/logging/logger.ts";
import { openOutput } from "../platform/logging/output.ts";
import type { Judgement } from "../witness/judge.ts";
import { withOptions } from "./flags.ts";
import { printLines } from "./print.ts";

const NOTES = `
Compares the trees of facts of the nodes every few seconds, and signs the largest checkpoint that enough nodes with different keys
contain, and that contains every one it signed before. It shows the signed checkpoint at /api/v2/facts/checkpoint, health at /health/ready and metrics at /metrics. Its key is
in the log and at /health/status: clients count it with "resolve" of @uniknode/client/proofs. docs/guides/proofs.md has an example.`;

export function witnessCommand(): Command {
  const command = new Command("witness")
    .argument("<url...>", "base URLs of nodes, best of different operators")
    .addHelpText("after", NOTES);
  return withOptions(command, witnessOptions, async (config, given: string[]) => {
    const urls = readUrls(given);
    const log = openLog(config.logLevel, config.logFormat);
    // Loads the HTTP server.
    const { openWitness, startWitness } = await import("../processes/witness.ts");
    if (config.once) {
      const { witness, lock } = openWitness(urls, config, log.logger);
      const judgement = await witness.round(new AbortController().signal);
      printSigned(judgement, witness.signed()?.note);
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

/** @throws {CodedError} if nothing can be signed, or nodes differ */
function printSigned(
  { differing, agreed, failed, checkpoint, contradiction }: Judgement,
  note: string | undefined,
): void {
  if (contradiction)
    throw unsigned(
      `the trees of ${differing.join(", ")} contradict the tree that this witness signed: witness.json has both signed checkpoints; if the signed tree is the wrong one, start anew with another --data`,
    );
  if (differing.length > 0)
    throw unsigned(
      `the trees of facts differ: ${differing.join(", ")}; compare these nodes with a third one`,
    );
  if (!checkpoint || note === undefined) {
    const reasons = failed.map(({ url, error }) => `${url}: ${error.message}`);
    const reason = `too few nodes with different keys have the same tree: ${agreed.join(", ") || "none"}`;
    throw unsigned([reason, ...reasons].join("; "));
  }
  printLines(note.trimEnd().split("\n"));
}

const unsigned = (message: string): CodedError<"WITNESS"> =>
  new CodedError("WITNESS", message, { isRetryable: true });
