/** `uniknode listen`: receives webhooks in the terminal, and prints each as a short line or as JSON. */
import { Command } from "commander";
import { stopSignal } from "../../platform/lifecycle/process.ts";
import { hasColors, STANDARD_OUTPUT } from "../../platform/logging/output.ts";
import { withoutControls } from "../../platform/text/foreign.ts";
import { withOptions } from "../flags.ts";
import { listenOptions, startForwarding, startListening } from "./listen.ts";
import type { ReceivedRequest } from "./receiver.ts";

const NOTES = `
Prints each verified delivery as one line: time, response status, event, sequence, height, data. --json prints the complete
delivery. The node must run on this machine and be allowed to deliver to loopback addresses: a dev chain is by default, any
other node needs --webhook-private-targets. The exit code is 1 if the webhook could not be removed.

--forward-to URL reads the live stream instead, also of a node on another machine, signs each event with a secret that the
command prints, and sends it to your application once; the line shows its response.`;

export function listenCommand(): Command {
  return withOptions(new Command("listen").addHelpText("after", NOTES), listenOptions, async (config) => {
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

/** Members of the data that the short line shows. */
const SUMMARY_MEMBERS = [
  "id",
  "tokenId",
  "ownerId",
  "address",
  "balance",
  "recipientId",
  "amount",
  "numberOfTransactions",
  "error",
];
/** Maximum of characters of other values. */
const MAX_DATA_LENGTH = 60;
const MAX_ID_LENGTH = 12;

type LineStyle = {
  readonly hasColors: boolean;
  /** Width of the terminal, to which lines are cut; absent, or 0 for an unknown width: lines are not cut. */
  readonly columns?: number | undefined;
};

const PLAIN: LineStyle = { hasColors: false };

/**
 * Formats one short line: time, response status, event, verdict, and the beginning of its data. Texts of the delivery are
 * escaped as in JSON, so that control characters do not reach the terminal.
 */
export function requestLine(received: ReceivedRequest, { hasColors, columns }: LineStyle = PLAIN): string {
  const time = new Date(received.receivedMs).toTimeString().slice(0, 8);
  const { status } = received;
  if ("refusal" in received) {
    const { code, message } = received.refusal;
    const line = fit(`${time}  NOT VERIFIED, responded ${status}: ${printable(message)} (${code})`, columns);
    return hasColors ? color(line, RED) : line;
  }
  const { delivery, attempt } = received;
  const event = printable(delivery.event.slice(0, MAX_DATA_LENGTH));
  const line = fit(
    [
      time,
      `${status}`,
      event,
      delivery.sequence === undefined ? "" : `#${delivery.sequence}`,
      delivery.height === undefined ? "" : `height ${delivery.height}`,
      attempt === 1 ? "" : `attempt ${attempt}`,
      "verified",
      delivery.reverts === undefined
        ? ""
        : `retracts ${printable(delivery.reverts.slice(0, MAX_DATA_LENGTH))}`,
      shortData(delivery.data),
    ]
      .filter((part) => part !== "")
      .join(GAP),
    columns,
  );
  const ends = [time, `${status}`, event].map((part) => part.length);
  return hasColors ? paint(line, ends, delivery.reverts === undefined ? BOLD : YELLOW, status) : line;
}

const GAP = "  ";
const BOLD = 1;
const DIM = 2;
const RED = 31;
const GREEN = 32;
const YELLOW = 33;

/** Colours time, status and event of a line. */
function paint(line: string, lengths: readonly number[], eventColor: number, status: number): string {
  const colors = [DIM, status < 300 ? GREEN : RED, eventColor];
  let at = 0;
  const painted = colors.map((code, index) => {
    const length = lengths[index] ?? 0;
    const part = line.slice(at, at + length);
    at += length + GAP.length;
    return color(part, code);
  });
  return [...painted, line.slice(at)].filter((part) => part !== "").join(GAP);
}

const color = (text: string, code: number): string => (text === "" ? "" : `\u001B[${code}m${text}\u001B[0m`);

const fit = (line: string, columns: number | undefined): string =>
  !columns || line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;

/** Formats one line of JSON. */
export function requestJson(received: ReceivedRequest): string {
  const { receivedMs, status } = received;
  const common = { receivedAt: receivedMs, status };
  if ("refusal" in received) {
    const { code, message } = received.refusal;
    return withoutControls(JSON.stringify({ ...common, verified: false, code, message }));
  }
  const { attempt, delivery } = received;
  return withoutControls(JSON.stringify({ ...common, verified: true, attempt, delivery }));
}

const printable = (text: string): string => withoutControls(JSON.stringify(text)).slice(1, -1);

function shortData(data: unknown): string {
  const members = Object(data) as Record<string, unknown>;
  const names = SUMMARY_MEMBERS.filter((name) => isShort(members[name]));
  if (names.length > 0) return names.map((name) => `${name} ${shortValue(`${members[name]}`)}`).join("  ");
  const text = JSON.stringify(data) ?? "";
  return withoutControls(text.length > MAX_DATA_LENGTH ? `${text.slice(0, MAX_DATA_LENGTH)} ...` : text);
}

const isShort = (value: unknown) => typeof value === "string" || typeof value === "number";

const shortValue = (text: string): string =>
  printable(/^[0-9a-f]{64}$/.test(text) ? text.slice(0, MAX_ID_LENGTH) : text.slice(0, MAX_DATA_LENGTH));
