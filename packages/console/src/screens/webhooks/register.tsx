/** List of webhooks. */
import { isEveryEvent, type Webhook } from "@uniknode/client";
import { countText } from "../../components/format.ts";
import { useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { Health } from "./health.tsx";
import { eventsOf, StateBadge } from "./state.tsx";

const LIMIT = 25;
const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 5_000 } as const;

const COLUMNS: readonly Column<Webhook>[] = [
  {
    title: "Webhook",
    narrow: "1a",
    cell: ({ id, name }) => (
      <>
        <a href={`/console/webhooks/${id}`}>{id}</a> {name}
      </>
    ),
  },
  { title: "State", narrow: "1c", cell: (webhook) => <StateBadge webhook={webhook} /> },
  { title: "Health", narrow: "2a", cell: (webhook) => <Health webhook={webhook} /> },
  { title: "Events", cell: (webhook) => eventsOf(webhook) },
  { title: "Target", narrow: "1b", cell: ({ target }) => <span class="text">{target}</span> },
  {
    title: "Conditions",
    cell: ({ conditions }) => countText(isEveryEvent(conditions) ? 0 : conditions.length),
    isNumber: true,
    isMinor: true,
  },
];

export function Register() {
  const { operations } = useNode();
  const { page } = useListState();
  const response = useResponse(
    `webhooks ${page}`,
    () => operations.webhooks.list().page({ page, limit: LIMIT }),
    EVERY_FEW_SECONDS,
  );
  return (
    <Page
      title="Webhooks"
      aside={
        <a class="button primary" href="/console/webhooks/new">
          New webhook
        </a>
      }
    >
      <ResponseView response={response} what="The register" lines={LIMIT}>
        {({ data, meta }) => (
          <>
            <Table
              caption="Webhooks"
              columns={COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
              empty={
                <Empty title="No webhooks yet">
                  A webhook posts what happens on the chain to your receiver, signed, in order, and again
                  until it is accepted.
                </Empty>
              }
            />
            {data.length > 0 && <Pager meta={meta} what="webhooks" />}
          </>
        )}
      </ResponseView>
    </Page>
  );
}
