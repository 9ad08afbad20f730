/** Bytes between this node and others, counted at the sockets. */

/** The part of a socket that is needed. */
type Counted = {
  readonly bytesRead: number;
  readonly bytesWritten: number;
  once(event: "close", listener: () => void): unknown;
};

export type TrafficFigures = { readonly receivedBytes: number; readonly sentBytes: number };

export type Traffic = {
  /** Counts the bytes of a connection until it has ended, and keeps its total. */
  watch(socket: Counted): void;
  /** Returns the totals since the process started. */
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
