/** Table of the mirrors, API servers and delivery workers that use this node. */
import type { NodeOverview } from "@uniknode/client";
import { Badge } from "../../components/badge.tsx";
import { countOfText, countText, durationText } from "../../components/format.ts";
import { Section } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useOverview } from "./use-overview.ts";

type RemoteProcess = NodeOverview["processes"][number];

const KINDS: Readonly<Record<RemoteProcess["kind"], string>> = {
  mirror: "Mirror",
  server: "API server",
  worker: "Worker",
};
/** Mirrors send nothing, and get a heartbeat every 5 s; others call every 3 s. */
const LATE_SECONDS = 30;
/** The limit of `/health/ready` of an API server. */
const MAX_BLOCKS_BEHIND = 10;

const COLUMNS: readonly Column<RemoteProcess>[] = [
  { title: "Process", narrow: "1a", cell: ({ kind, name }) => `${KINDS[kind]}${name ? ` ${name}` : ""}` },
  { title: "Address", narrow: "2a", cell: ({ address }) => address },
  {
    title: "Height",
    narrow: "2b",
    isNumber: true,
    cell: ({ height }) => (height === undefined ? "unknown" : countText(height)),
  },
  {
    title: "Behind",
    narrow: "2c",
    isNumber: true,
    cell: ({ blocksBehind }) => <Lag blocks={blocksBehind} />,
  },
  { title: "Last seen", narrow: "1c", cell: ({ lastSeenSeconds }) => <LastSeen seconds={lastSeenSeconds} /> },
];

function Lag({ blocks }: { blocks: number | undefined }) {
  const text = blocks === undefined ? "unknown" : countOfText(blocks, "blocks");
  return (blocks ?? 0) > MAX_BLOCKS_BEHIND ? <Badge tone="bad">{text}</Badge> : <span>{text}</span>;
}

const LastSeen = ({ seconds }: { seconds: number }) =>
  seconds > LATE_SECONDS ? (
    <Badge tone="bad">{`${durationText(seconds)} ago`}</Badge>
  ) : (
    <Badge tone="good">connected</Badge>
  );

/** Renders nothing if no process of another machine uses the node. */
export function RemoteProcesses() {
  const processes = useOverview()?.processes ?? [];
  if (processes.length === 0) return null;
  return (
    <Section title="Mirrors, API servers and workers">
      <Table
        caption="Mirrors, API servers and workers"
        columns={COLUMNS}
        rows={processes}
        keyOf={({ kind, address, name }) => `${kind} ${address} ${name}`}
        empty={undefined}
      />
    </Section>
  );
}
