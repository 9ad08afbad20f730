/** Metrics of the parts of a node. */
import type { ComponentChildren } from "preact";
import { bytesText, countText } from "../../components/format.ts";
import { Facts, Section } from "../../components/page.tsx";
import type { Figures } from "./metrics.ts";
import { REFUSALS } from "./refusals.ts";
import { ServerParts } from "./server-parts.tsx";

type PartProps = { readonly figures: Figures };

export const Parts = ({ figures }: PartProps) =>
  figures.one("uniknode_server_node_up") === undefined ? (
    <NodeParts figures={figures} />
  ) : (
    <ServerParts figures={figures} />
  );

const NodeParts = ({ figures }: PartProps) => (
  <div class="parts">
    <Chain figures={figures} />
    <Pool figures={figures} />
    <Forger figures={figures} />
    <Disk figures={figures} />
    <Threads figures={figures} />
    <Traffic figures={figures} />
  </div>
);

const Chain = ({ figures: { one } }: PartProps) => (
  <Section title="Chain">
    <Facts
      facts={[
        ["Height", count(one("uniknode_chain_height"))],
        ["Behind the network", count(one("uniknode_chain_blocks_behind"))],
        ["Reverted since the start", count(one("uniknode_chain_reverted_blocks_total"))],
      ]}
    />
  </Section>
);

const Pool = ({ figures: { one, by } }: PartProps) => (
  <Section title="Pool">
    <Facts
      facts={[
        ["Pending", count(one("uniknode_pool_transactions"))],
        ["Size", bytes(one("uniknode_pool_bytes"))],
        ["Being checked", count(one("uniknode_pool_examined_transactions"))],
        ["Refused", <Reasons key="refused" reasons={by("uniknode_pool_refusals_total", "reason")} />],
      ]}
    />
  </Section>
);

function Forger({ figures: { one, by } }: PartProps) {
  const elsewhere = one("uniknode_forger_keys_used_elsewhere") ?? 0;
  return (
    <Section title="Forger">
      <Facts
        facts={[
          ["Forged since the start", count(one("uniknode_forger_blocks_forged_total"))],
          ["Missed since the start", count(one("uniknode_forger_slots_missed_total"))],
          [
            "Not signed",
            <Reasons
              key="refused"
              reasons={by("uniknode_forger_refusals_total", "reason")}
              words={REFUSALS}
            />,
          ],
          ["Keys in use elsewhere", elsewhere > 0 && <strong>{countText(elsewhere)}</strong>],
        ]}
      />
    </Section>
  );
}

const Disk = ({ figures: { one } }: PartProps) => (
  <Section title="Disk">
    <Facts
      facts={[
        ["Failed writes", count(one("uniknode_disk_failed_writes_total"))],
        ["Lost log lines", count(sum(one, "uniknode_log_lines_lost_total"))],
        ["Process memory", bytes(one("uniknode_process_resident_memory_bytes"))],
      ]}
    />
  </Section>
);

const THREADS = ["consensus", "serving"];

const Threads = ({ figures: { one } }: PartProps) => (
  <Section title="Threads">
    <Facts
      facts={THREADS.map((thread) => {
        const delay = (statistic: string) => one("uniknode_event_loop_delay_seconds", { thread, statistic });
        const [p99, max] = [delay("p99"), delay("max")];
        const heap = one("uniknode_heap_used_bytes", { thread });
        return [
          thread,
          [
            p99 !== undefined && `delay ${milliseconds(p99)}`,
            max !== undefined && `at most ${milliseconds(max)}`,
            heap !== undefined && `${bytesText(heap)} of heap`,
          ]
            .filter(Boolean)
            .join(", ") || "not responding",
        ] as const;
      })}
    />
  </Section>
);

const Traffic = ({ figures: { one, by } }: PartProps) => (
  <Section title="Peer port">
    <Facts
      facts={[
        ["Known peers", count(one("uniknode_peers"))],
        ["Received", bytes(one("uniknode_peers_received_bytes_total"))],
        ["Sent", bytes(one("uniknode_peers_sent_bytes_total"))],
        ["Inbound connections", count(one("uniknode_peers_sessions"))],
        ["Banned addresses", count(one("uniknode_peers_banned"))],
        [
          "Refused",
          <Reasons key="refused" reasons={by("uniknode_peers_sessions_refused_total", "reason")} />,
        ],
      ]}
    />
  </Section>
);

type ReasonsProps = {
  readonly reasons: readonly (readonly [string, number])[];
  /** Descriptions of codes. */
  readonly words?: Readonly<Record<string, string>>;
};

function Reasons({ reasons, words = {} }: ReasonsProps) {
  if (reasons.length === 0) return <>none</>;
  return (
    <ul class="reasons">
      {reasons.map(([reason, total]) => (
        <li key={reason}>
          {countText(total)} · {words[reason] ?? reason}
        </li>
      ))}
    </ul>
  );
}

const count = (value: number | undefined): ComponentChildren => value !== undefined && countText(value);
const bytes = (value: number | undefined): ComponentChildren => value !== undefined && bytesText(value);
const milliseconds = (seconds: number): string => `${countText(Math.round(seconds * 1_000))} ms`;

function sum(one: Figures["one"], name: string): number | undefined {
  const values = THREADS.map((thread) => one(name, { thread })).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : values.reduce((total, value) => total + value, 0);
}
