/** `uniknode listen`: a receiver of webhooks in the terminal. */
import { Command } from "commander";
import { stopSignal } from "../../platform/lifecycle/signals.ts";
import { addFlags, configOf } from "../options.ts";
import { startListening } from "./listen.ts";
import { listenOptions } from "./options.ts";
import { arrivalJson, arrivalLine } from "./show.ts";

const EXAMPLES = `
Examples:
  uniknode listen --token TOKEN
  uniknode listen --token TOKEN --event "transaction.*" --condition "amount gte 100000000"
  uniknode listen --token TOKEN --event block.applied --status 503    (watch the node try again)
  uniknode listen --token TOKEN --json | jq .delivery.data

The node must be able to reach this machine's loopback address: a dev chain does, any other node with
--webhook-private-targets.

Exit codes: 0 ended and removed the webhook, 1 failed or could not remove it, 2 options that make no sense.`;

export function listenCommand(): Command {
  const command = new Command("listen")
    .description("receive webhooks in the terminal and verify them")
    .addHelpText("after", EXAMPLES);
  return addFlags(command, listenOptions).action(async () => {
    const config = configOf(command, listenOptions);
    const show = config.json ? arrivalJson : arrivalLine;
    const news = config.json ? process.stderr : process.stdout;
    // A terminal that is closed must not leave the webhook behind, nor a pipe that nobody reads any more.
    const unread = new Promise((resolve) => process.stdout.on("error", resolve));
    const stopped = Promise.race([stopSignal("SIGHUP"), unread]);
    const listening = await startListening(config, {
      onArrival: (arrival) => void process.stdout.write(`${show(arrival)}\n`),
      tell: (text) => void news.write(`${text}\n`),
    });
    await stopped;
    await listening.stop();
  });
}
