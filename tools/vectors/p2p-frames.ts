/**
 * Runner of recorded connections (p2p.md 2 to 9), over real sockets: what the recorded client sent goes to our
 * server, which knows what the recorded one knew and must say the same; what the recorded server sent goes to our client, which must
 * have asked with the recorded texts.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { pino } from "pino";
import { RateLimits } from "../../packages/node/src/peers/guards/rate-limits.ts";
import { PeerError, type RequestHandler } from "../../packages/node/src/peers/transport/calls.ts";
import { type Connection, connectPeer } from "../../packages/node/src/peers/transport/connection.ts";
import { PeerServer } from "../../packages/node/src/peers/transport/server.ts";
import type { ReplyHeaders } from "../../packages/node/src/peers/wire/client-messages.ts";
import { decodeValue } from "../../packages/node/src/peers/wire/codec.ts";
import { type EventName, isInternal } from "../../packages/node/src/peers/wire/events.ts";
import { type PeerEvent, readResult } from "../../packages/node/src/peers/wire/replies.ts";
import { NOT_READY } from "../../packages/node/src/peers/wire/server-messages.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { WAIT_MS } from "../../packages/node/test-support/process/until.ts";
import { networkNamed } from "./networks.ts";
import { type Recorded, recordedNode } from "./p2p-node.ts";
import { acceptRaw, connectRaw, type Item, maskedFrame, type RawEnd, textFrame } from "./raw-end.ts";
import type { Runner } from "./vector.ts";

type Step = {
  dir: "client->server" | "server->client";
  kind: "http" | "frame" | "tcp-fin";
  fin: boolean;
  opcode: number;
  hex: string;
  text: string;
  payloadText?: string;
  payloadHex?: string;
};

type Message = Recorded & { event?: string; cid?: number };

export const network = networkNamed("livenet");
const logger = pino({ level: "silent" });
/**
 * Ten times as fast as in the recording, and slower on a busy machine. Seven pings precede the end, and the eighth would just follow it:
 * pings may be late by two thirds of a second in all.
 */
const TIMES = { pingInterval: WAIT_MS / 79, pingTimeout: WAIT_MS / 10 };

const messageOf = ({ payloadText }: Step): Message | undefined => {
  const value = payloadText === undefined ? undefined : decodeValue(payloadText);
  return typeof value === "object" ? (value as Message) : undefined;
};

type ServerSetting = { handle: RequestHandler; headers: ReplyHeaders; isReady: boolean; trusts: boolean };

/** A server of ours, for one use. */
export async function withServer(
  { handle, headers, isReady, trusts }: ServerSetting,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const server: PeerServer = new PeerServer(
    {
      host: "127.0.0.1",
      port: 0,
      maxConnectionsPerSubnet: 5,
      remoteAccess: trusts ? ["127.0.0.1"] : [],
      times: TIMES,
    },
    {
      network,
      rateLimits: new RateLimits({ eventsPerSecond: 100, exempt: new Set(trusts ? ["127.0.0.1"] : []) }),
      handle,
      isReady: () => isReady,
      replyHeaders: () => headers,
      isBanned: () => false,
      isPeer: () => false,
      logger,
    },
  );
  const port = await server.listen();
  try {
    await use(port);
  } finally {
    await server.close();
  }
}

/** Upgrades and shakes hands as a client. */
export async function openRaw(port: number): Promise<RawEnd> {
  const end = await connectRaw(port);
  end.write(
    `GET /socketcluster/ HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
  );
  assert.equal((await end.next()).kind, "http");
  end.write(maskedFrame(1, '{"event":"#handshake","data":{"authToken":null},"cid":1}'));
  assert.equal((await end.next()).kind, "frame");
  return end;
}

/** Pings can come at any time: few recordings contain them. */
async function nextOf(end: RawEnd, wantsPing: boolean): Promise<Item> {
  for (;;) {
    const item = await end.next();
    if (wantsPing || item.kind !== "frame" || String(item.payload) !== "#1") return item;
  }
}

/** The headers of the recorded replies. */
export const headersOf = (messages: readonly Recorded[]): ReplyHeaders =>
  messages.find(({ data }) => data?.headers)?.data.headers ?? { version: "5.7.2", height: 6 };

/**
 * A reply must say the same, whatever the order of its members; of an error that the protocol has no words for, it must
 * be one of the same event.
 */
export function compareTexts(ours: string, recorded: string): void {
  const [own, other] = [decodeValue(ours), decodeValue(recorded)] as [Recorded, Recorded];
  if (typeof other !== "object" || other.rid === undefined) {
    assert.equal(ours, recorded);
    return;
  }
  if (own.data?.data?.config) delete own.data.data.config.uniknode;
  if (own.data?.pingTimeout) own.data.id = other.data?.id;
  const unworded = /^p2p\.peer\.postBlock responded with /.exec(other.error?.message ?? "")?.[0];
  if (unworded !== undefined && own.error?.message.startsWith(unworded)) return;
  assert.deepEqual(own, other);
}

async function replayToServer(steps: readonly Step[]): Promise<void> {
  const messages = steps.flatMap((step) => (step.dir === "server->client" ? (messageOf(step) ?? []) : []));
  const setting = {
    handle: recordedNode(messages, network),
    headers: headersOf(messages),
    isReady: !steps.some((step) => messageOf(step)?.error?.message === NOT_READY),
    trusts: steps.some((step) => isInternal((messageOf(step)?.event ?? "") as EventName)),
  };
  await withServer(setting, async (port) => {
    const end = present(steps[0]).kind === "http" ? await connectRaw(port) : await openRaw(port);
    try {
      for (const step of steps) {
        if (step.dir === "server->client") compare(step, await nextOf(end, step.payloadText === "#1"));
        else if (step.kind === "tcp-fin") end.end();
        else end.write(Buffer.from(step.hex, "hex"));
      }
    } finally {
      end.end();
    }
  });
}

function compare(step: Step, item: Item): void {
  assert.equal(item.kind, step.kind === "tcp-fin" ? "end" : step.kind);
  if (item.kind === "http") assert.equal(item.text, step.text);
  if (item.kind !== "frame") return;
  assert.equal(item.isFinal, step.fin);
  assert.equal(item.opcode, step.opcode);
  if (step.payloadText !== undefined) compareTexts(String(item.payload), step.payloadText);
  else assert.equal(item.payload.toString("hex"), step.payloadHex);
}

/** Our client against the recorded server. */
async function replayToClient(steps: readonly Step[]): Promise<void> {
  const server = await acceptRaw();
  const connecting = connectPeer({ address: "127.0.0.1", port: server.port });
  const end = await server.accepted;
  try {
    await shakeHands(end, steps);
    await converse(await connecting, end, steps);
  } finally {
    end.end();
    server.close();
  }
}

async function shakeHands(end: RawEnd, steps: readonly Step[]): Promise<void> {
  const upgrade = await end.next();
  assert.ok(upgrade.kind === "http");
  const recorded = steps.find(({ kind, dir }) => kind === "http" && dir === "client->server");
  if (recorded) assert.equal(plainHead(upgrade.text), plainHead(recorded.text));
  end.write(upgradeReply(present(present(/Sec-WebSocket-Key: (.*)\r\n/.exec(upgrade.text))[1])));
  await expectText(end, '{"event":"#handshake","data":{"authToken":null},"cid":1}');
  end.write(
    textFrame('{"rid":1,"data":{"id":"TYJQUTZsUSL1_EB5AAAA","pingTimeout":60000,"isAuthenticated":false}}'),
  );
}

/** Repeats the requests of the recorded client. The client numbers its calls itself, so numbers are translated. */
async function converse(connection: Connection, end: RawEnd, steps: readonly Step[]): Promise<void> {
  const hasPong = steps.some(({ payloadText }) => payloadText === "#2");
  for (const step of steps) {
    if (hasPong && step.payloadText === "#1") {
      end.write(Buffer.from(step.hex, "hex"));
      await expectText(end, "#2");
    }
    const { event, cid, data } = messageOf(step) ?? {};
    const reply = cid === undefined ? undefined : steps.find((other) => messageOf(other)?.rid === cid);
    if (!event?.startsWith("p2p.") || !reply) continue;
    const { data: argument } = data as { data: never };
    const asked = connection.call(event as PeerEvent, argument, { timeoutMs: 5_000, maxBytes: 1_000_000 });
    const request = textOf(await end.next());
    const { cid: callId } = JSON.parse(request) as Message;
    if (step.payloadText?.includes('"headers":{"Content-Type":"application/json"}')) {
      assert.equal(request, step.payloadText.replace(/"cid":\d+}$/, `"cid":${callId}}`));
    }
    end.write(textFrame(present(reply.payloadText).replace(/^\{"rid":\d+/, `{"rid":${callId}`)));
    await checkReply(asked, present(messageOf(reply)), event as PeerEvent);
  }
  connection.close();
  await expectText(end, '{"event":"#disconnect","data":{"code":1000}}');
  const closing = await end.next();
  assert.ok(closing.kind === "frame" && closing.opcode === 8);
  assert.equal(closing.payload.toString("hex"), "03e8");
}

function textOf(item: Item): string {
  assert.ok(item.kind === "frame" && item.opcode === 1 && item.isFinal);
  return String(item.payload);
}

async function checkReply(
  asked: Promise<{ result: unknown }>,
  recorded: Message,
  event: PeerEvent,
): Promise<void> {
  if (recorded.error) {
    const { message } = recorded.error;
    await assert.rejects(asked, (error) => error instanceof PeerError && error.message === message);
    return;
  }
  const { result } = await asked;
  assert.deepEqual(result, (recorded.data as { data: unknown }).data);
  if (!isInternal(event)) readResult(event, result, network);
}

async function expectText(end: RawEnd, text: string): Promise<void> {
  assert.equal(textOf(await end.next()), text);
}

/** The forger's client offers an extension, a captured one adds a query; keys and ports differ. */
const plainHead = (text: string) =>
  text
    .replace(/^GET \S+/, "GET /socketcluster/")
    .replace(/Sec-WebSocket-Extensions: .*\r\n/, "")
    .replace(/Sec-WebSocket-Key: .*\r\n/, "")
    .replace(/Host: .*\r\n/, "");

/** RFC 6455 section 4.2.2. */
const upgradeReply = (key: string) =>
  `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${createHash(
    "sha1",
  )
    .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64")}\r\n\r\n`;

/** Steps depend on those before: a file is one case for each side. */
export const transcript: Runner = ({ name, steps }: { name: string; steps: Step[] }) => [
  { name: `${name}, our server`, run: () => replayToServer(steps) },
  { name: `${name}, our client`, run: () => replayToClient(steps) },
];
