/**
 * Connections to NATS servers. They pass the guard of all deliveries. The library's own transport has no guard, no bound on the
 * greeting, and leaves the socket of a silent server open.
 */
import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { buildConnector } from "undici";
import { CodedError } from "../../platform/coded-error.ts";
import type { NatsTarget } from "../model/nats-target.ts";

/** A connection whose server has sent its greeting. */
export type ServerStream = {
  readonly socket: Socket;
  /** The bytes that were read: the INFO line of the server. */
  readonly greeting: Uint8Array;
};

type Server = Pick<NatsTarget, "host" | "port" | "isSecure">;

/** Maximum size of a greeting; that of a server without a cluster has 500 bytes. */
const MAX_GREETING_BYTES = 32_768;

/**
 * Connects to a server, and encrypts the connection if the target or the server requires it.
 *
 * @param signal ends the connection until the promise settles
 */
export async function openServerStream(
  connect: buildConnector.connector,
  server: Server,
  signal: AbortSignal,
): Promise<ServerStream> {
  const socket = await openSocket(connect, server);
  const end = () => socket.destroy(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  try {
    signal.throwIfAborted();
    const greeting = await readGreeting(socket, server);
    return { greeting, socket: await encryptIfRequired(socket, greeting, server) };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** Creates the error of a peer that does not follow the protocol. */
export const protocolError = (reason: string) =>
  new CodedError("NATS_PROTOCOL", reason, { isRetryable: true });

const openSocket = (connect: buildConnector.connector, { host, port }: Server): Promise<Socket> =>
  new Promise((resolve, reject) => {
    connect({ hostname: host, protocol: "http:", port: `${port}` }, (error, socket) => {
      if (error) reject(error);
      else resolve(socket);
    });
  });

function readGreeting(socket: Socket, { host, port }: Server): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const settle = (error?: unknown) => {
      socket.pause().off("data", onData).off("error", settle).off("close", onClose);
      if (error === undefined) resolve(read);
      else reject(error);
    };
    const onClose = () => settle(protocolError("the server closed the connection before its greeting"));
    const onData = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const isGreeting = "INFO {".startsWith(read.subarray(0, 6).toString("latin1"));
      if (!isGreeting || read.length > MAX_GREETING_BYTES) {
        settle(protocolError(`no NATS server at ${host}:${port}: it sent another greeting`));
      } else if (read.includes("\r\n")) settle();
    };
    socket.on("data", onData).on("error", settle).on("close", onClose);
  });
}

async function encryptIfRequired(socket: Socket, greeting: Uint8Array, server: Server): Promise<Socket> {
  const text = Buffer.from(greeting).toString("latin1");
  const isRequired = /"tls_required":\s*true/.test(text);
  if (isRequired) return encrypt(socket, server);
  if (!server.isSecure) return socket;
  if (/"tls_available":\s*true/.test(text)) return encrypt(socket, server);
  throw protocolError("the server does not offer TLS: use nats:// if the network is trusted");
}

function encrypt(socket: Socket, { host }: Server): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const encrypted = connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) });
    // The error of a later end is reported by the iterator of its data.
    encrypted.on("error", reject);
    encrypted.once("close", () =>
      reject(protocolError("the server closed the connection during the TLS handshake")),
    );
    encrypted.once("secureConnect", () => resolve(encrypted));
  });
}
