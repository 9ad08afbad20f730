/** `/peers` (http-api.md 6.7). */

import { createList } from "../list.ts";
import type { PeerFilter, PeerOrder } from "../list-filters.ts";
import { path } from "../request.ts";
import type { ApiResponse } from "../responses.ts";
import type { Send } from "../send.ts";

export type Peer = {
  readonly ip: string;
  /** Port of the peer-to-peer protocol. */
  readonly port: number;
  /** Ports of its other services, by name. */
  readonly ports: Readonly<Record<string, number>>;
  readonly version: string;
  readonly height: number;
  /** Milliseconds until its last reply. */
  readonly latency: number;
};

export type PeerQuery = PeerFilter & { readonly orderBy?: PeerOrder };

export const peers = (send: Send) => ({
  list: (query?: PeerQuery) => createList<Peer>(send, { path: "/peers", query }),

  get: (ip: string) => send<ApiResponse<Peer>>({ path: path`/peers/${ip}` }),
});
