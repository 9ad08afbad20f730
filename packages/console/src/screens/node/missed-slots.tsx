/** Table of the latest missed slots of this node, with reasons. */
import type { NodeOverview } from "@uniknode/client";
import { PublicKey } from "../../components/identifier.tsx";
import { Section } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { REFUSALS } from "./refusals.ts";
import { useOverview } from "./use-overview.ts";

type Missed = NodeOverview["forger"]["lastMissed"][number];

const COLUMNS: readonly Column<Missed>[] = [
  { title: "Time", narrow: "1c", cell: ({ timestamp }) => <Time timeMs={timestamp.unix * 1_000} /> },
  { title: "Delegate", narrow: "1a", cell: ({ publicKey }) => <PublicKey publicKey={publicKey} /> },
  { title: "Reason", narrow: "2a", cell: ({ reason }) => REFUSALS[reason] ?? reason },
];

/** Renders nothing if no slot was missed. The node keeps the slots across restarts. */
export function MissedSlots() {
  const missed = useOverview()?.forger.lastMissed ?? [];
  if (missed.length === 0) return null;
  return (
    <Section title="Missed slots of this node, also before the start">
      <Table
        caption="Missed slots, newest first"
        columns={COLUMNS}
        rows={missed}
        keyOf={({ slot, publicKey }) => `${slot} ${publicKey}`}
        empty={undefined}
      />
    </Section>
  );
}
