/** How an arrival looks in the terminal, and as JSON. */
import type { Arrival } from "./receiver.ts";

/** Members of the data that tell most in few words. */
const TELLING = [
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
/** Characters of anything else. */
const MAX_DATA_LENGTH = 100;
const MAX_ID_LENGTH = 12;

/** One calm line. Whatever stands in a delivery is escaped as JSON escapes it: a terminal obeys some characters. */
export function arrivalLine(arrival: Arrival): string {
  const time = new Date(arrival.receivedMs).toTimeString().slice(0, 8);
  if ("refusal" in arrival) {
    const { code, message } = arrival.refusal;
    return `${time}  NOT VERIFIED, answered ${arrival.status}: ${message} (${code})`;
  }
  const { delivery, attempt, status } = arrival;
  return [
    time,
    printable(delivery.event).padEnd(24),
    delivery.sequence === undefined ? "" : `#${delivery.sequence}`,
    delivery.height === undefined ? "" : `height ${delivery.height}`,
    `attempt ${attempt}`,
    `verified, answered ${status}`,
    delivery.reverts === undefined ? "" : `takes back ${printable(delivery.reverts)}`,
    shortData(delivery.data),
  ]
    .filter((part) => part !== "")
    .join("  ");
}

/** For programs: a line that is one JSON object. */
export function arrivalJson(arrival: Arrival): string {
  const { receivedMs, status } = arrival;
  const common = { receivedAt: receivedMs, answered: status };
  if ("refusal" in arrival) {
    const { code, message } = arrival.refusal;
    return JSON.stringify({ ...common, verified: false, code, message });
  }
  const { attempt, delivery } = arrival;
  return JSON.stringify({ ...common, verified: true, attempt, delivery });
}

const printable = (text: string): string => JSON.stringify(text).slice(1, -1);

function shortData(data: unknown): string {
  const members = Object(data) as Record<string, unknown>;
  const telling = TELLING.filter((name) => isShort(members[name]));
  if (telling.length > 0)
    return telling.map((name) => `${name} ${shortValue(`${members[name]}`)}`).join("  ");
  const text = JSON.stringify(data) ?? "";
  return text.length > MAX_DATA_LENGTH ? `${text.slice(0, MAX_DATA_LENGTH)} ...` : text;
}

const isShort = (value: unknown) => typeof value === "string" || typeof value === "number";

const shortValue = (text: string): string =>
  printable(/^[0-9a-f]{64}$/.test(text) ? text.slice(0, MAX_ID_LENGTH) : text.slice(0, MAX_DATA_LENGTH));
