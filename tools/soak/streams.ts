/** Readers of the live stream that check for missing and duplicate blocks. */
import { connect } from "node:net";

export type StreamReaders = {
  readonly faults: readonly string[];
  /** Blocks read by all readers. */
  blocks(): number;
  close(): void;
};

export type StreamOptions = {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly count: number;
};

/** Opens the streams, each from a separate address. */
export function startStreams({ host, port, token, count }: StreamOptions): StreamReaders {
  const faults: string[] = [];
  let [blocks, isClosed] = [0, false];
  const sockets = Array.from({ length: count }, (_, index) => {
    let [unread, last] = ["", 0];
    const socket = connect({ host, port, localAddress: `127.50.0.${index + 1}` });
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      unread += text;
      for (let end = unread.indexOf("\n"); end >= 0; end = unread.indexOf("\n")) {
        readLine(unread.slice(0, end));
        unread = unread.slice(end + 1);
      }
    });
    function readLine(line: string): void {
      const height = Number(/^data: .*"height":(\d+)/.exec(line)?.[1] ?? 0);
      if (height === 0) return;
      blocks += 1;
      if (last > 0 && height !== last + 1) faults.push(`stream ${index}: block ${height} after ${last}`);
      last = height;
    }
    socket.on("error", (error) => faults.push(`stream ${index}: ${error.message}`));
    socket.on("close", () => {
      if (!isClosed) faults.push(`stream ${index}: was closed`);
    });
    const path = "/api/v2/events?events=block.applied";
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nAuthorization: ${token}\r\n\r\n`);
    return socket;
  });
  return {
    faults,
    blocks: () => blocks,
    close() {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
