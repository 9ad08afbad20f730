/** All webhooks of the node. */
import type { Webhook } from "@uniknode/client";
import { CodeBlock } from "../../components/code-block.tsx";
import { countText } from "../../components/format.ts";
import { useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useAnswer, useNode } from "../../data/node.ts";
import { eventsOf, StateBadge } from "./state.tsx";

const LIMIT = 25;
const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 5_000 } as const;
const CREATE = 'uniknode webhooks create http://127.0.0.1:8000/ --event "transaction.*" --condition "id ne "';

const COLUMNS: readonly Column<Webhook>[] = [
  { title: "Webhook", cell: ({ id }) => <a href={`/console/webhooks/${id}`}>{id}</a> },
  { title: "State", cell: (webhook) => <StateBadge webhook={webhook} /> },
  { title: "Events", cell: (webhook) => eventsOf(webhook) },
  { title: "Target", cell: ({ target }) => <span class="text">{target}</span> },
  {
    title: "Conditions",
    cell: ({ conditions }) => countText(conditions.length),
    isNumber: true,
    isMinor: true,
  },
];

export function Register() {
  const { operations } = useNode();
  const { page } = useListState();
  const answer = useAnswer(
    `webhooks ${page}`,
    () => operations.webhooks.list().page({ page, limit: LIMIT }),
    EVERY_FEW_SECONDS,
  );
  return (
    <Page title="Webhooks">
      <Answered answer={answer} what="The register" lines={LIMIT}>
        {({ data, meta }) => (
          <>
            <Table
              caption="Webhooks"
              columns={COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
              empty={
                <Empty title="There is no webhook yet">
                  Register one on the command line, on the machine of the node:
                  <CodeBlock text={CREATE} what="command" />
                </Empty>
              }
            />
            {data.length > 0 && <Pager meta={meta} what="webhooks" />}
          </>
        )}
      </Answered>
    </Page>
  );
}
