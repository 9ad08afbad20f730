/** `/peers` (http-api.md 6.7). */

import type { PeerInfo } from "../../gateway/gateway.ts";
import { parseRange, parseVersion, versionKey } from "../../peers/versions.ts";
import { Type } from "../../platform/json/schema.ts";
import { PEERS } from "../../read/lists.ts";
import type { Resource } from "../core/api.ts";
import { HttpError, notFound } from "../core/error.ts";
import { count } from "../core/values.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { listParameters } from "../requests/list-schemas.ts";
import { memoryList } from "../requests/memory-list.ts";
import { pageQuery } from "../requests/pagination.ts";
import { ip, orderOf, query } from "../requests/parameters.ts";

const Peer = Type.Object(
  {
    ip: Type.String(),
    port: Type.Integer({ description: "Port of the peer-to-peer protocol." }),
    ports: Type.Record(Type.String(), Type.Integer(), {
      description: "Ports of its other services by name; -1 if unreachable.",
    }),
    version: Type.String(),
    height: count,
    latency: Type.Number({ description: "Latency of its last reply, in milliseconds." }),
  },
  { title: "Peer" },
);

const listQuery = query({ ...pageQuery, ...listParameters(PEERS) });

export const peers: Resource = (app, { gateway }) => {
  app.get(
    "/peers",
    {
      schema: described("Peers", "Lists known peers, fastest first.", listOf(Peer), {
        querystring: listQuery,
      }),
      config: { mayMiss: true },
    },
    async (request) => {
      const { version, orderBy } = request.query;
      const all = await gateway.peers();
      const found = version === undefined ? all : ofVersions(all, version);
      const { field, direction } = orderOf(orderBy, PEERS);
      return memoryList(request, found, {
        show: peerResponse,
        id: ({ ip }) => ip,
        rate: (peer) => (field === "version" ? versionKey(peer.version) : peer[field]),
        direction,
      });
    },
  );

  app.get(
    "/peers/:ip",
    { schema: described("Peers", "Returns a peer.", single(Peer), { params: Type.Object({ ip }) }) },
    async (request) => {
      const peer = (await gateway.peers()).find((known) => known.ip === request.params.ip);
      if (!peer) throw notFound("PEER_UNKNOWN", "Peer");
      return { data: peerResponse(peer) };
    },
  );
};

function ofVersions(all: readonly PeerInfo[], text: string): readonly PeerInfo[] {
  const range = parseRange(text);
  if (!range) throw new HttpError("INVALID_VERSION_RANGE", "Invalid version range provided");
  return all.filter((peer) => {
    const version = parseVersion(peer.version);
    return version !== undefined && range.test(version);
  });
}

/** Returns the members of a peer in responses. */
const peerResponse = ({ ip, port, ports, version, height, latency }: PeerInfo) => ({
  ip,
  port,
  ports,
  version,
  height,
  latency,
});
