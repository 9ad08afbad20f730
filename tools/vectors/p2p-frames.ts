/** Runner of recorded connections: every frame, message and answer of both sides (p2p.md 2 to 9). */
import assert from "node:assert/strict";
import { bytesToHex, hexToBytes } from "@uniknode/protocol";
import { createRateLimits, type RateLimits } from "../../packages/node/src/peers/guards/rate-limits.ts";
import { decodeValue, encodeValue } from "../../packages/node/src/peers/wire/codec.ts";
import { type ServerReaction, serverReaction, WireError } from "../../packages/node/src/peers/wire/error.ts";
import { encodeFrame } from "../../packages/node/src/peers/wire/frames/encode.ts";
import { createFrameReader, type Received } from "../../packages/node/src/peers/wire/frames/read.ts";
import { CLIENT_MESSAGE_BYTES, serverMessageBytes } from "../../packages/node/src/peers/wire/limits.ts";
import {
  readHandshakeReply,
  readReply,
  readServerMessage,
} from "../../packages/node/src/peers/wire/replies/read.ts";
import { type PeerEvent, readResult } from "../../packages/node/src/peers/wire/replies/received.ts";
import {
  PING,
  writeFailure,
  writeHandshakeReply,
  writeReply,
} from "../../packages/node/src/peers/wire/replies/write.ts";
import { type EventName, isInternal } from "../../packages/node/src/peers/wire/requests/arguments.ts";
import { type ClientMessage, readClientMessage } from "../../packages/node/src/peers/wire/requests/read.ts";
import { advance, NEW_SESSION, type Session } from "../../packages/node/src/peers/wire/requests/session.ts";
import {
  PONG,
  writeCall,
  writeDisconnect,
  writeHandshake,
} from "../../packages/node/src/peers/wire/requests/write.ts";
import {
  isUpgradeTarget,
  writeUpgradeReply,
  writeUpgradeRequest,
} from "../../packages/node/src/peers/wire/upgrade.ts";
import { networkNamed } from "./networks.ts";
import type { Runner, Runners } from "./vector.ts";

type Step = {
  dir: "client->server" | "server->client";
  kind: "http" | "frame" | "tcp-fin";
  fin: boolean;
  opcode: number;
  maskKey: string | null;
  hex: string;
  text: string;
  payloadText?: string;
  payloadHex?: string;
  meaning?: unknown;
  tMs: number;
};

const network = networkNamed("livenet");

/** What is known of a connection while its steps are followed. */
type Connection = {
  readonly read: Record<Step["dir"], (bytes: Uint8Array) => Received[]>;
  session: Session;
  /** Asked and not answered yet. */
  readonly asked: Map<number, EventName | "#handshake">;
  readonly rateLimits: RateLimits;
  /** What the server must do next. */
  reaction: ServerReaction | undefined;
  /** A close frame was seen. */
  isClosing: boolean;
  /** Key of the upgrade. */
  key: string;
};

function newConnection(steps: readonly Step[]): Connection {
  const client = createFrameReader({ isMasked: true, maxBytes: serverMessageBytes(network) });
  const server = createFrameReader({ isMasked: false, maxBytes: CLIENT_MESSAGE_BYTES.other });
  const isNew = steps[0]!.kind === "http";
  return {
    read: {
      "client->server": (bytes) => [...client.read(bytes)],
      "server->client": (bytes) => [...server.read(bytes)],
    },
    session: isNew ? NEW_SESSION : { ...NEW_SESSION, phase: "ready" },
    asked: new Map(),
    rateLimits: createRateLimits({ eventsPerSecond: 100, exempt: new Set() }),
    reaction: undefined,
    isClosing: false,
    key: "",
  };
}

/** Steps depend on those before: a file is one case. */
const transcript: Runner = ({ name, steps }: { name: string; steps: Step[] }) => [
  {
    name,
    run: () => {
      const connection = newConnection(steps);
      for (const step of steps) followers[step.kind](step, connection);
      assert.equal(connection.reaction, undefined, "the connection should have ended");
    },
  },
];

const followers: Record<Step["kind"], (step: Step, connection: Connection) => void> = {
  http: followHttp,
  frame: followFrame,
  "tcp-fin": followEnd,
};

function followHttp({ dir, text }: Step, connection: Connection): void {
  if (dir === "server->client") {
    assert.equal(writeUpgradeReply(connection.key), text);
    return;
  }
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)![1]!.trim();
  const target = text.split(" ")[1]!;
  assert.ok(isUpgradeTarget(target));
  connection.key = field("Sec-WebSocket-Key");
  const [host, port] = field("Host").split(":");
  // The forger's client offers an extension, a captured one adds a query; the rest is what we send.
  const plain = text.replace(target, "/socketcluster/").replace(/^Sec-WebSocket-Extensions: .*\r\n/m, "");
  assert.equal(writeUpgradeRequest(host!, Number(port), connection.key), plain);
}

function followFrame(step: Step, connection: Connection): void {
  const { dir, fin, opcode, maskKey, hex, payloadText, payloadHex } = step;
  const payload = payloadText === undefined ? hexToBytes(payloadHex!) : new TextEncoder().encode(payloadText);
  const mask = maskKey === null ? {} : { maskKey: hexToBytes(maskKey) };
  assert.equal(bytesToHex(encodeFrame({ opcode, payload, isFinal: fin, ...mask })), hex);
  const received = connection.read[dir](hexToBytes(hex));
  if (!fin) {
    assert.deepEqual(received, []);
    return;
  }
  assert.equal(received.length, 1);
  const [message] = received;
  if (message?.kind === "close") followClose(step, message.closeCode, connection);
  else followText(step, message!.text, connection);
}

/** Codes of timers are the server's own, the others follow from what the client did. */
function followClose({ dir, meaning }: Step, closeCode: number | undefined, connection: Connection): void {
  assert.deepEqual({ closeCode }, meaning);
  connection.isClosing = true;
  if (dir === "client->server" || !connection.reaction) return;
  assert.deepEqual(connection.reaction, { kind: "close", closeCode });
  connection.reaction = undefined;
}

/** Without a close frame the server has cut the connection. */
function followEnd(_step: Step, connection: Connection): void {
  if (connection.isClosing) return;
  assert.deepEqual(connection.reaction, { kind: "offence" });
  connection.reaction = undefined;
}

function followText({ dir, payloadText, meaning, tMs }: Step, text: string, connection: Connection): void {
  if (payloadText !== undefined) assert.equal(text, payloadText);
  const value = decodeValue(text);
  if (typeof meaning === "object" && !text.includes('"base64"')) assert.deepEqual(value, meaning);
  assert.equal(encodeValue(value), text);
  if (dir === "server->client") followServer(text, connection);
  else followClient(text, tMs, connection);
}

function followClient(text: string, at: number, connection: Connection): void {
  const message = readClientMessage(text);
  try {
    connection.session = advance(connection.session, message, at);
    if (message.kind === "call") connection.rateLimits.count("203.0.113.7", message.event, at);
  } catch (error) {
    assert.ok(error instanceof WireError);
    connection.reaction = serverReaction(error);
    return;
  }
  if ("callId" in message && message.callId !== undefined) {
    connection.asked.set(message.callId, message.kind === "call" ? message.event : "#handshake");
  }
  const ownHeaders = '"headers":{"Content-Type":"application/json"}';
  if (message.kind !== "call" || text.includes(ownHeaders)) assert.equal(written(message), text);
}

function written(message: ClientMessage): string {
  if (message.kind === "pong") return PONG;
  if (message.kind === "handshake") return writeHandshake();
  if (message.kind === "disconnect") return writeDisconnect(message.closeCode);
  return writeCall(message.event, message.argument, message.callId);
}

function followServer(text: string, { asked }: Connection): void {
  const message = readServerMessage(text);
  if (message.kind === "ping") {
    assert.equal(text, PING);
    return;
  }
  assert.ok(message.kind === "reply" || message.kind === "failure");
  const event = asked.get(message.callId);
  assert.ok(event, "a reply to nothing");
  asked.delete(message.callId);
  if (message.kind === "failure") {
    assert.equal(writeFailure(message.callId, message.message), text);
  } else if (event === "#handshake") {
    assert.equal(readHandshakeReply(message.data).pingTimeoutMs, 60_000);
    assert.equal(writeHandshakeReply(message.callId, (message.data as { id: string }).id), text);
  } else {
    const { result, height } = readReply(message.data);
    const version = "5.7.2";
    const headers = height === undefined ? { version } : { version, height };
    assert.equal(writeReply(message.callId, event, result as never, headers), text);
    if (!isInternal(event)) readResult(event as PeerEvent, result, network);
  }
}

/** One is left out: the missing pong, whose course depends on the server's clock alone. */
const TRANSCRIPTS = [
  "app-not-ready",
  "disconnect",
  "event-before-handshake",
  "forger-current-round",
  "forger-emit-event",
  "forger-open",
  "forger-post-block",
  "forger-sync",
  "forger-transactions",
  "fragmented-request",
  "get-blocks",
  "get-blocks-headers",
  "get-common-blocks",
  "get-common-blocks-none",
  "get-peers",
  "get-status",
  "path-with-query",
  "ping-pong",
  "post-block",
  "post-transactions",
  "post-transactions-garbage",
  "rate-limit-get-peers",
  "request-without-cid",
  "upgrade-handshake",
  "verify-peer-ahead",
];

export const frameRunners: Runners = Object.fromEntries(
  TRANSCRIPTS.map((name) => [`frames-${name}`, transcript]),
);
