/** The load of an ordinary day, for as long as wanted. */
import { present } from "../../../../src/platform/present.ts";
import { people } from "../../../chain/cast.ts";
import { until } from "../../../process/until.ts";
import type { Arrival, Behaviour, Receiver } from "../../actors/receiver.ts";
import type { Attack, Attacker } from "../attacker.ts";
import { faultsOf, startRegistered } from "../honest.ts";
import { startForging } from "../node.ts";
import { inTurn, type Request, rawStream, WITH_TOKEN } from "../requests.ts";
import { Accounts, submission } from "../transactions.ts";

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
  ...["blockchain", "blocks?limit=100", "transactions?limit=100"],
  ...["transactions?limit=100&orderBy=amount:desc", "wallets?limit=100", "uniks", "delegates"],
  ...["transactions/unconfirmed", "node/status"],
];

/** Subscribes every other webhook to transactions. Returns the good receivers of blocks, and the ids that each of the others has. */
async function register({ target }: Attacker, all: Receiver[], faults: string[]) {
  const behaviours = WEBHOOKS.flatMap(([behaviour, count]) => Array<Behaviour>(count).fill(behaviour));
  const blocks: Receiver[] = [];
  const received: Set<string>[] = [];
  for (const [number, behaviour] of behaviours.entries()) {
    const isGood = behaviour === "well";
    const transactions = new Set<string>();
    const onCall = ({ message: { data } }: Arrival) => {
      const { id } = data as { readonly id: string };
      if (isGood && transactions.has(id)) faults.push(`webhook ${number}: ${id} was delivered twice`);
      transactions.add(id);
    };
    const isOfBlocks = number % 2 === 0;
    const ofTransactions = !isOfBlocks && { events: ["transaction.applied"], onCall };
    const receiver = await startRegistered(target, { behaviour, ...ofTransactions });
    all.push(receiver);
    if (isGood && isOfBlocks) blocks.push(receiver);
    if (isGood && !isOfBlocks) received.push(transactions);
  }
  return { blocks, received };
}

/** Opens a live stream that must not miss a block, nor be closed. */
function follow(attacker: Attacker, stream: number, faults: string[]): void {
  let [unread, last] = ["", 0];
  const socket = attacker.open(rawStream("?events=block.applied")).setEncoding("utf8");
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
  const accounts = new Accounts(attacker);
  const nextSender = inTurn(Array.from({ length: SENDERS }, (_, index) => people(`account ${index}`)));
  const nextPath = inTurn(PATHS);
  let recipient = nextSender();
  const send = async (request: Request) => {
    const status = await attacker.send(request);
    if (status === 0 || status >= 500) faults.push(`${request.path} responded with ${status}`);
  };
  await Promise.all([
    attacker.repeat({ pauseMs: SUBMIT_EVERY_MS }, async () => {
      const sender = recipient;
      recipient = nextSender();
      const { address: recipientId } = recipient;
      let nonce = await accounts.nonce(sender);
      const next = () => accounts.transfer(sender, ++nonce, { recipientId });
      await send(submission(Array.from({ length: TRANSFERS_PER_SUBMISSION }, next)));
    }),
    attacker.repeat({ pauseMs: READ_EVERY_MS }, () => send({ path: `/api/v2/${nextPath()}` })),
    attacker.repeat({ pauseMs: SCRAPE_EVERY_MS }, async () => {
      await send({ path: "/metrics", headers: WITH_TOKEN });
      await send({ path: "/health/status" });
    }),
  ]);
}

/** Waits until all webhooks for transactions have received the same ones: any difference is a loss. */
async function untilSame(received: readonly Set<string>[]): Promise<void> {
  await until("each good webhook has the same transactions", () => {
    const all = received.reduce((one, other) => one.union(other), new Set<string>());
    return all.size > 0 && received.every(({ size }) => size === all.size);
  });
}

/** Transfers, page reads, scrapes, live streams, and 200 webhooks with good, refusing, silent and dripping receivers. */
export const everydayLoad: Attack = {
  start: () => startForging({ isDevChain: true }),
  isSteady: true,
  async run(attacker) {
    const receivers: Receiver[] = [];
    const faults: string[] = [];
    try {
      const { blocks, received } = await register(attacker, receivers, faults);
      for (let stream = 0; stream < STREAMS; stream++) follow(attacker, stream, faults);
      await use(attacker, faults);
      await untilSame(received).catch((error: Error) => faults.push(error.message));
      faults.push(...blocks.flatMap(faultsOf));
    } finally {
      await Promise.all(receivers.map((receiver) => receiver.close()));
    }
    if (faults.length > 0) throw new Error(faults.slice(0, MAX_FAULTS_SHOWN).join("; "));
  },
};
