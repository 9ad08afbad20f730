/** `uniknode listen`: receives webhooks in the terminal. */
import { Command } from "commander";
import { stopSignal } from "../../platform/lifecycle/signals.ts";
import { hasColors, STANDARD_OUTPUT } from "../../platform/logging/terminal.ts";
import { addFlags, readConfig } from "../options.ts";
import { startForwarding, startListening } from "./listen.ts";
import { listenOptions } from "./options.ts";
import type { ReceivedRequest } from "./receiver.ts";
import { requestJson, requestLine } from "./show.ts";

const NOTES = `
Prints each verified delivery as one line: time, response status, event, sequence, height, data. --json prints the complete
delivery. --status 503 responds with an error, to watch the node retry. The node must run on this machine and be allowed to
deliver to loopback addresses: a dev chain is by default, any other node needs --webhook-private-targets. The exit code is 1
if the webhook could not be removed.

--forward-to URL reads the live stream instead, also of a node on another machine, signs each event with a secret that the
command prints, and sends it to your application once; the line shows its response.`;

export function listenCommand(): Command {
  const command = new Command("listen").addHelpText("after", NOTES);
  return addFlags(command, listenOptions).action(async () => {
    const config = readConfig(command, listenOptions);
    const style = { hasColors: hasColors(STANDARD_OUTPUT) };
    const format = (received: ReceivedRequest) =>
      config.json
        ? requestJson(received)
        : requestLine(received, { ...style, columns: process.stdout.columns });
    const messages = config.json ? process.stderr : process.stdout;
    // A closed terminal or pipe must not leave the webhook registered.
    const outputClosed = new Promise((resolve) => process.stdout.on("error", resolve));
    const stopped = Promise.race([stopSignal("SIGHUP"), outputClosed]);
    const listening = await (config.forwardTo === undefined ? startListening : startForwarding)(config, {
      onRequest: (received) => void process.stdout.write(`${format(received)}\n`),
      report: (text) => void messages.write(`${text}\n`),
    });
    await Promise.race([stopped, listening.ended ?? stopped]);
    await listening.stop();
  });
}
