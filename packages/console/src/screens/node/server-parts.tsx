/** Metrics of an API server. */
import { countText } from "../../components/format.ts";
import { Facts, Section } from "../../components/page.tsx";
import type { Figures } from "./metrics.ts";

const KINDS = [
  ["Calls", "gateway"],
  ["Forwarded requests", "forwarded"],
] as const;

export const ServerParts = ({ figures: { one, by } }: { figures: Figures }) => {
  const shown = (name: string, labels = {}) => {
    const value = one(`uniknode_server_${name}`, labels);
    return value !== undefined && countText(value);
  };
  const failed = by("uniknode_server_calls_failed_total", "reason").reduce(
    (sum, [, total]) => sum + total,
    0,
  );
  return (
    <div class="parts">
      <Section title="Database of this API server">
        <Facts
          facts={[
            ["Height", shown("head_height")],
            ["Blocks behind the node", shown("blocks_behind")],
            ["Connections", shown("database_connections")],
            ["Waiting requests", shown("database_waiting")],
          ]}
        />
      </Section>
      <Section title="Requests to nodes">
        <Facts
          facts={[
            ...KINDS.map(([title, kind]) => [`${title} in progress`, shown("calls", { kind })] as const),
            ["Failed since the start", countText(failed)],
          ]}
        />
      </Section>
    </div>
  );
};
