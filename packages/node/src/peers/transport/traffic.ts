/** Bytes that travel between this node and others, counted where they leave and arrive. */

/** What is needed of a socket. */
type Counted = {
  readonly bytesRead: number;
  readonly bytesWritten: number;
  once(event: "close", listener: () => void): unknown;
};

export type TrafficFigures = { readonly receivedBytes: number; readonly sentBytes: number };

export type Traffic = {
  /** Counts a connection until it has ended, and remembers what it counted. */
  watch(socket: Counted): void;
  /** Since the process started. */
  read(): TrafficFigures;
};

export function createTraffic(): Traffic {
  const open = new Set<Counted>();
  let ended: TrafficFigures = { receivedBytes: 0, sentBytes: 0 };

  const sum = ({ receivedBytes, sentBytes }: TrafficFigures, { bytesRead, bytesWritten }: Counted) => ({
    receivedBytes: receivedBytes + bytesRead,
    sentBytes: sentBytes + bytesWritten,
  });

  return {
    watch(socket) {
      open.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        ended = sum(ended, socket);
      });
    },
    read: () => [...open].reduce(sum, ended),
  };
}
