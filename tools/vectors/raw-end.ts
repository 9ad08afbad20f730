/** One end of a connection as plain bytes: HTTP heads and frames, for replaying recorded connections. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { present } from "../../packages/node/src/platform/present.ts";

/** Received piece: the head of an HTTP message, a frame, or the end. */
export type Item =
  | { readonly kind: "http"; readonly text: string }
  | { readonly kind: "frame"; readonly opcode: number; readonly isFinal: boolean; readonly payload: Buffer }
  | { readonly kind: "end" };

export type RawEnd = {
  write(bytes: Uint8Array | string): void;
  /** Returns the next piece; rejects if none arrives in time. */
  next(): Promise<Item>;
  end(): void;
};

const WAIT_TIMEOUT_MS = 20_000;

export async function connectRaw(port: number): Promise<RawEnd> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return rawEnd(socket);
}

/** Starts a server that returns its first connection. */
export async function acceptRaw(): Promise<{ port: number; accepted: Promise<RawEnd>; close: () => void }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection").then(([socket]) => rawEnd(socket as Socket));
  const { port } = server.address() as { port: number };
  return { port, accepted, close: () => void server.close() };
}

type State = {
  readonly items: Item[];
  buffered: Buffer;
  /** False after the first head: frames follow. */
  isHttp: boolean;
  /** Called after each arrival. */
  wake: () => void;
};

function rawEnd(socket: Socket): RawEnd {
  const state: State = { items: [], buffered: Buffer.alloc(0), isHttp: true, wake: () => {} };
  socket.on("data", (bytes) => {
    state.buffered = Buffer.concat([state.buffered, bytes]);
    for (let item = take(state); item; item = take(state)) state.items.push(item);
    state.wake();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    state.items.push({ kind: "end" });
    state.wake();
  });
  return {
    write: (bytes) => void socket.write(bytes),
    end: () => socket.destroy(),
    async next() {
      if (state.items.length === 0) await nextArrival(state);
      return present(state.items.shift());
    },
  };
}

const nextArrival = (state: State) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("nothing came")), WAIT_TIMEOUT_MS);
    state.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });

/** Takes a complete item from the buffer, if there is one. */
function take(state: State): Item | undefined {
  if (!state.isHttp) return takeFrame(state);
  const { buffered } = state;
  const end = buffered.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  state.isHttp = false;
  state.buffered = buffered.subarray(end + 4);
  return { kind: "http", text: buffered.subarray(0, end + 4).toString("latin1") };
}

function takeFrame(state: State): Item | undefined {
  const { buffered } = state;
  if (buffered.length < 2) return undefined;
  const [first, second] = buffered as unknown as [number, number];
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskAt = 2 + lengthBytes;
  const start = maskAt + (second >= 0x80 ? 4 : 0);
  if (buffered.length < start) return undefined;
  const length =
    lengthBytes === 2
      ? buffered.readUInt16BE(2)
      : lengthBytes === 8
        ? Number(buffered.readBigUInt64BE(2))
        : short;
  if (buffered.length < start + length) return undefined;
  const mask = buffered.subarray(maskAt, start);
  const payload = Buffer.from(
    buffered.subarray(start, start + length).map((byte, at) => byte ^ (mask[at & 3] ?? 0)),
  );
  state.buffered = buffered.subarray(start + length);
  return { kind: "frame", opcode: first & 0x0f, isFinal: first >= 0x80, payload };
}

/** A frame that a client sends, its text after a mask of zeros. */
export const maskedFrame = (opcode: number, payload: string | Uint8Array): Buffer =>
  frame(opcode, Buffer.from(payload as Uint8Array), Buffer.alloc(4));

/** A text frame as a server sends it. */
export const textFrame = (text: string): Buffer => frame(1, Buffer.from(text), Buffer.alloc(0));

function frame(opcode: number, payload: Buffer, mask: Buffer): Buffer {
  const { length } = payload;
  const lengthBytes = length < 126 ? 0 : length < 0x1_0000 ? 2 : 8;
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = 0x80 | opcode;
  head[1] = (mask.length > 0 ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(length, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, mask, payload]);
}
