/** Time server at a loopback address, with the replies that a test sets. */
import { createSocket } from "node:dgram";
import { once } from "node:events";

export type TimeServerOfTest = {
  /** Address in the format of the option. */
  readonly server: string;
  readonly close: () => void;
};

export async function startTimeServer(
  repliesTo: (request: Buffer) => Buffer[],
  host = "127.0.0.1",
): Promise<TimeServerOfTest> {
  const isV6 = host.includes(":");
  const socket = createSocket(isV6 ? "udp6" : "udp4");
  socket.on("message", (request, { port, address }) => {
    for (const reply of repliesTo(request)) socket.send(reply, port, address);
  });
  socket.bind(0, host);
  await once(socket, "listening");
  return {
    server: `${isV6 ? `[${host}]` : host}:${socket.address().port}`,
    close: () => void socket.close(),
  };
}

const SECONDS_TO_1970 = 2_208_988_800;

/** Reply of a server whose clock shows a given time. */
export function replyOf(
  request: Buffer,
  unixMs: number,
  change: { head?: number; stratum?: number } = {},
): Buffer {
  const message = Buffer.alloc(48);
  message[0] = change.head ?? 0x24;
  message[1] = change.stratum ?? 2;
  request.copy(message, 24, 40, 48);
  for (const at of [32, 40]) {
    message.writeUInt32BE((Math.floor(unixMs / 1000) + SECONDS_TO_1970) % 2 ** 32, at);
    message.writeUInt32BE(Math.floor(((unixMs % 1000) / 1000) * 2 ** 32), at + 4);
  }
  return message;
}
