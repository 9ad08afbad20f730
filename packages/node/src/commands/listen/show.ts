/** Formats received requests, as a line for the terminal and as JSON. */
import { withoutControls } from "../../platform/text/foreign.ts";
import type { ReceivedRequest } from "./receiver.ts";

/** Members of the data for the short form. */
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
/** Maximum of characters of other data. */
const MAX_DATA_LENGTH = 100;
const MAX_ID_LENGTH = 12;

/** One line. The texts of a delivery are escaped: the terminal must not obey them. */
export function requestLine(received: ReceivedRequest): string {
  const time = new Date(received.receivedMs).toTimeString().slice(0, 8);
  if ("refusal" in received) {
    const { code, message } = received.refusal;
    return `${time}  NOT VERIFIED, answered ${received.status}: ${message} (${code})`;
  }
  const { delivery, attempt, status } = received;
  return [
    time,
    printable(delivery.event.slice(0, MAX_DATA_LENGTH)).padEnd(24),
    delivery.sequence === undefined ? "" : `#${delivery.sequence}`,
    delivery.height === undefined ? "" : `height ${delivery.height}`,
    `attempt ${attempt}`,
    `verified, answered ${status}`,
    delivery.reverts === undefined ? "" : `retracts ${printable(delivery.reverts.slice(0, MAX_DATA_LENGTH))}`,
    shortData(delivery.data),
  ]
    .filter((part) => part !== "")
    .join("  ");
}

/** One line with a JSON object, for programs. */
export function requestJson(received: ReceivedRequest): string {
  const { receivedMs, status } = received;
  const common = { receivedAt: receivedMs, answered: status };
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
