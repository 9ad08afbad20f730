/** List of known peers. */
import type { Peer, PeerQuery } from "@uniknode/client";
import { Filters } from "../../components/filters.tsx";
import { countText } from "../../components/format.ts";
import { useListState } from "../../components/list-state.ts";
import { Section } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const LIMIT = 25;
const ORDERS = [
  { value: "", label: "Fastest first" },
  { value: "height:desc", label: "Highest first" },
  { value: "version:desc", label: "Newest version first" },
  { value: "ip:asc", label: "By address" },
];

export function Peers() {
  const { api } = useNode();
  const { page, query } = useListState();
  const order = ORDERS.find(({ value }) => value !== "" && value === query.orderBy)?.value ?? "latency:asc";
  const response = useResponse(
    `peers ${JSON.stringify([page, order])}`,
    () =>
      api.peers.list({ orderBy: order as NonNullable<PeerQuery["orderBy"]> }).page({ page, limit: LIMIT }),
    { lasts: "session", everyMs: 15_000 },
  );
  const columns: readonly Column<Peer>[] = [
    { title: "Address", cell: ({ ip, port }) => `${ip.includes(":") ? `[${ip}]` : ip}:${port}` },
    { title: "Version", cell: ({ version }) => version },
    { title: "Height", isNumber: true, cell: ({ height }) => countText(height) },
    { title: "Latency", isNumber: true, cell: ({ latency }) => `${countText(Math.round(latency))} ms` },
  ];
  return (
    <Section title="Peers">
      <ResponseView response={response} what="The list of peers">
        {({ data, meta }) => (
          <>
            {data.length > 1 && <Filters fields={[{ name: "orderBy", label: "Order", options: ORDERS }]} />}
            <Table
              caption="Peers"
              columns={columns}
              rows={data}
              keyOf={({ ip, port }) => `${ip} ${port}`}
              empty={
                <Empty title="No known peers">An isolated chain, such as a dev chain, has no peers.</Empty>
              }
            />
            {meta.pageCount > 1 && <Pager meta={meta} what="peers" />}
          </>
        )}
      </ResponseView>
    </Section>
  );
}
