/** Transport of the NATS library over a guarded connection, with a bound on what the server sends. */
import { present } from "../../platform/present.ts";
import type { ConnectionOptions, Transport } from "./library.ts";
import {
  createProtocolCheck,
  protocolError,
  type ReceiveBudget,
  type ServerStream,
} from "./server-stream.ts";

/** Cost of a read, whose few bytes would hide its CPU time. */
const MIN_READ_BYTES = 256;

/** Options of a connection. The library creates transports without arguments, and passes these options to `connect`. */
export type TransportOptions = ConnectionOptions & {
  readonly openStream: () => Promise<ServerStream>;
  readonly budget: ReceiveBudget;
};

type Opened = ServerStream & Pick<TransportOptions, "budget">;
type OwnTransport = { -readonly [Name in keyof Transport]: Transport[Name] };

export function createTransport(): Transport {
  const closed = Promise.withResolvers<Error | undefined>();
  let opened: Opened | undefined;

  function end(error?: Error): void {
    if (transport.isClosed) return;
    transport.isClosed = true;
    if (error) transport.closeError = error;
    opened?.socket.destroy();
    // The library learns from a failed `connect` that a connection was never open.
    if (opened) closed.resolve(error);
  }

  /** Yields the bytes of the server; the connection ends with the reads. */
  async function* read(): AsyncIterableIterator<Uint8Array> {
    let failure: Error | undefined;
    try {
      yield* readBounded(present(opened, "the connection"));
    } catch (error) {
      failure = error as Error;
    } finally {
      end(failure);
    }
  }

  const transport: OwnTransport = {
    lang: "uniknode",
    version: "1.0.0",
    isClosed: false,
    async connect(_server, options) {
      const { openStream, budget } = options as TransportOptions;
      const stream = await openStream();
      if (transport.isClosed) stream.socket.destroy();
      else opened = { ...stream, budget };
    },
    [Symbol.asyncIterator]: read,
    isEncrypted: () => opened !== undefined && "encrypted" in opened.socket,
    // A failed write ends the reads, which report the error.
    send: (frame) => void opened?.socket.write(frame),
    close: async (error) => end(error),
    disconnect: () => end(),
    discard: () => end(),
    closed: () => closed.promise,
  };
  return transport;
}

async function* readBounded({ greeting, socket, budget }: Opened): AsyncIterableIterator<Uint8Array> {
  const check = createProtocolCheck(budget);
  function checked(bytes: Uint8Array): Uint8Array {
    let isOfProtocol = true;
    try {
      check(bytes);
    } catch {
      isOfProtocol = false;
    }
    if (budget.remainingBytes < 0) throw protocolError("the server sent more than the reply to a request");
    if (!isOfProtocol) throw protocolError("the server sent bytes that are not part of the protocol");
    return bytes;
  }

  yield checked(greeting);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    budget.remainingBytes -= Math.max(chunk.length, MIN_READ_BYTES);
    yield checked(chunk);
  }
}
