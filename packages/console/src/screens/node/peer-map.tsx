/** Table of the peers by version and height: it shows a fork, and nodes that were left behind by an update. */
import type { Peer } from "@uniknode/client";
import { countText } from "../../components/format.ts";
import { Section } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useNode, useResponse } from "../../data/node.ts";

/** The fastest peers: a response has at most 100. */
const LIMIT = 100;
/** Blocks by which the height that a peer reported last can differ without a reason. */
const TOLERANCE = 2;

const PLACES = ["higher", "at the head", "up to 50 lower", "lower"] as const;
type Place = (typeof PLACES)[number];

type Row = { readonly version: string; readonly place: Place; readonly count: number };

/** Renders nothing for a node without peers. */
export function PeerMap() {
  const { api, head } = useNode();
  const { value } = useResponse(
    "peers map",
    () => api.peers.list({ orderBy: "latency:asc" }).page({ limit: LIMIT }),
    {
      lasts: "session",
      everyMs: 15_000,
    },
  );
  const height = head.value?.height;
  if (height === undefined || !value || value.data.length === 0) return null;
  const columns: readonly Column<Row>[] = [
    { title: "Version", cell: ({ version }) => version },
    { title: "Height", cell: ({ place }) => place },
    {
      title: "Peers",
      isNumber: true,
      cell: ({ count }) => (
        <span class="peer-count" style={{ "--part": `${(100 * count) / value.data.length}%` }}>
          {countText(count)}
        </span>
      ),
    },
  ];
  return (
    <Section title="Peers by version and height">
      <Table
        caption="Number of peers by version and height"
        columns={columns}
        rows={rowsOf(value.data, height)}
        keyOf={({ version, place }) => `${version} ${place}`}
        empty={undefined}
      />
    </Section>
  );
}

/** Counts the peers of each version by their distance from the head, the most frequent version first. */
export function rowsOf(peers: readonly Peer[], height: number): readonly Row[] {
  return [...Map.groupBy(peers, ({ version }) => version)]
    .sort(([, a], [, b]) => b.length - a.length)
    .flatMap(([version, same]) => {
      const places = Map.groupBy(same, (peer) => placeOf(peer.height - height));
      return PLACES.flatMap((place) => {
        const count = places.get(place)?.length;
        return count === undefined ? [] : [{ version, place, count }];
      });
    });
}

function placeOf(distance: number): Place {
  if (distance > TOLERANCE) return "higher";
  if (distance >= -TOLERANCE) return "at the head";
  return distance >= -50 ? "up to 50 lower" : "lower";
}
