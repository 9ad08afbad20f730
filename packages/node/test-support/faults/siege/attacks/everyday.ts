/** The load of an ordinary day, for as long as wanted. */

import { present } from "../../../../src/platform/present.ts";
import { people } from "../../../chain/cast.ts";
import { until } from "../../../process/until.ts";
import type { Behaviour, ReceivedCall, Receiver } from "../../actors/receiver.ts";
import type { Attack, Attacker } from "../attacker.ts";
import { faultsOf, startRegistered } from "../honest.ts";
import { startForging } from "../node.ts";
import { inTurn, type Request, rawGet } from "../requests.ts";
import { openAccounts, submission, transferText } from "../transactions.ts";

/** Webhooks by the behaviour of their receivers: 200. */
const WEBHOOKS: readonly (readonly [behaviour: Behaviour, count: number])[] = [
  ["well", 140],
  ["refusing", 20],
  ["silent", 20],
  ["dripping", 20],
];
const STREAMS = 20;
const SENDERS = 10;
const TRANSFERS_PER_SUBMISSION = 10;
const SUBMIT_EVERY_MS = 1_000;
const READ_EVERY_MS = 100;
const SCRAPE_EVERY_MS = 5_000;
const MAX_FAULTS_SHOWN = 20;
/** One page of each kind, and some expensive ones. */
const PATHS = [
  "/api/v2/blockchain",
  "/api/v2/blocks?limit=100",
  "/api/v2/transactions?limit=100",
  "/api/v2/transactions?limit=100&orderBy=amount:desc",
  "/api/v2/wallets?limit=100",
  "/api/v2/uniks",
  "/api/v2/delegates",
  "/api/v2/transactions/unconfirmed",
  "/api/v2/node/status",
];

/** A webhook for blocks, or one for transactions with the ids that it has received. */
type Registered = { readonly receiver: Receiver; readonly transactions?: Set<string> };

/** Subscribes every other webhook to transactions. Returns those with good receivers. */
async function register({ target }: Attacker, all: Receiver[], faults: string[]): Promise<Registered[]> {
  const behaviours = WEBHOOKS.flatMap(([behaviour, count]) => Array<Behaviour>(count).fill(behaviour));
  const good: Registered[] = [];
  for (const [number, behaviour] of behaviours.entries()) {
    const transactions = new Set<string>();
    const onCall = ({ message: { data } }: ReceivedCall) => {
      const { id } = data as { readonly id: string };
      if (behaviour === "well" && transactions.has(id))
        faults.push(`webhook ${number}: ${id} was delivered twice`);
      transactions.add(id);
    };
    const isOfBlocks = number % 2 === 0;
    const receiver = await startRegistered(target, {
      behaviour,
      ...(!isOfBlocks && { events: ["transaction.applied"], onCall }),
    });
    all.push(receiver);
    if (behaviour === "well") good.push({ receiver, ...(!isOfBlocks && { transactions }) });
  }
  return good;
}

/** Opens a live stream that must not miss a block, nor be closed. */
function follow(attacker: Attacker, stream: number, faults: string[]): void {
  let [unread, last] = ["", 0];
  const { token } = attacker.target;
  const first = rawGet("/api/v2/events?events=block.applied", `Authorization: ${token}\r\n`);
  const socket = attacker.open(first).setEncoding("utf8");
  socket.on("data", (part: string) => {
    const lines = (unread + part).split("\n");
    unread = present(lines.pop());
    for (const line of lines) {
      const height = Number(/^data: .*"height":(\d+)/.exec(line)?.[1] ?? 0);
      if (height === 0) continue;
      if (last > 0 && height !== last + 1) faults.push(`stream ${stream}: block ${height} after ${last}`);
      last = height;
    }
  });
  socket.on("close", () => {
    if (!attacker.signal.aborted) faults.push(`stream ${stream} was closed`);
  });
}

/** Sends transfers of one sender after the other, reads pages, and scrapes the metrics. */
async function use(attacker: Attacker, faults: string[]): Promise<void> {
  const { token } = attacker.target;
  const accounts = openAccounts(attacker);
  const senders = Array.from({ length: SENDERS }, (_, index) => people(`account ${index}`));
  const nextPath = inTurn(PATHS);
  let submissions = 0;
  const send = async (request: Request) => {
    const status = await attacker.send(request);
    if (status === 0 || status >= 500) faults.push(`${request.path} responded with ${status}`);
  };
  await Promise.all([
    attacker.repeat({ pauseMs: SUBMIT_EVERY_MS }, async () => {
      const sender = present(senders[submissions % SENDERS]);
      const { address: recipientId } = present(senders[++submissions % SENDERS]);
      const nonce = await accounts.nonce(sender);
      const texts = Array.from({ length: TRANSFERS_PER_SUBMISSION }, (_, index) =>
        transferText(accounts, sender, { nonce: nonce + BigInt(index + 1), recipientId }),
      );
      await send(submission(texts));
    }),
    attacker.repeat({ pauseMs: READ_EVERY_MS }, () => send({ path: nextPath() })),
    attacker.repeat({ pauseMs: SCRAPE_EVERY_MS }, async () => {
      await send({ path: "/metrics", headers: { authorization: token } });
      await send({ path: "/health/status" });
    }),
  ]);
}

/** Waits until all webhooks for transactions have received the same ones: any difference is a loss. */
async function untilSame(webhooks: readonly Registered[]): Promise<void> {
  const received = webhooks.flatMap(({ transactions }) => transactions ?? []);
  const isSame = () => {
    const all = received.reduce((one, other) => one.union(other), new Set<string>());
    return all.size > 0 && received.every(({ size }) => size === all.size);
  };
  await until("each good webhook has the same transactions", isSame);
}

export const everydayLoad: Attack = {
  name: "everyday load",
  description: `transfers, page reads, scrapes, ${STREAMS} live streams, and 200 webhooks with good, refusing, silent and dripping receivers`,
  start: () => startForging({ isDevChain: true }),
  isSteady: true,
  async run(attacker) {
    const receivers: Receiver[] = [];
    const faults: string[] = [];
    try {
      const webhooks = await register(attacker, receivers, faults);
      for (let stream = 0; stream < STREAMS; stream++) follow(attacker, stream, faults);
      await use(attacker, faults);
      await untilSame(webhooks).catch((error: Error) => faults.push(error.message));
      for (const { receiver, transactions } of webhooks)
        if (!transactions) faults.push(...faultsOf(receiver));
    } finally {
      await Promise.all(receivers.map((receiver) => receiver.close()));
    }
    if (faults.length > 0) throw new Error(faults.slice(0, MAX_FAULTS_SHOWN).join("; "));
  },
};
