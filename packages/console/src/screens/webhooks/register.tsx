/** List of webhooks: by state, searched by name, target or event, and ordered. */
import type { Webhook, WebhookOrder, WebhookQuery } from "@uniknode/client";
import { type FilterField, Filters } from "../../components/filters.tsx";
import { countText } from "../../components/format.ts";
import { orderFrom, useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { UrlTabs } from "../../components/url-tabs.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { useWebhookHealth } from "../../data/webhook-health.ts";
import { Health } from "./health.tsx";
import { eventsOf, NextAttempt, StateBadge } from "./state.tsx";

const LIMIT = 25;
const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 5_000 } as const;
const MAX_SEARCH = 100;
const STATES = ["failing", "suspended", "paused", "active"] as const;

const ORDERS: readonly { readonly value: WebhookOrder | ""; readonly label: string }[] = [
  { value: "", label: "Oldest first" },
  { value: "id:desc", label: "Newest first" },
  { value: "name:asc", label: "By name" },
  { value: "target:asc", label: "By target" },
  { value: "failing.since:asc", label: "Longest failing first" },
];

const FIELDS: readonly FilterField[] = [
  {
    name: "search",
    label: "Search",
    placeholder: "Name, target or event",
    faultOf: (text: string) =>
      text.length > MAX_SEARCH ? `Expected: at most ${MAX_SEARCH} characters.` : undefined,
  },
  { name: "orderBy", label: "Order", options: ORDERS },
];

/** Each row has one line, and two on narrow screens: long texts are cut off, and are whole in the title. */
const COLUMNS: readonly Column<Webhook>[] = [
  {
    title: "Webhook",
    narrow: "1a",
    cell: ({ id, name }) => (
      <a href={`/console/webhooks/${id}`} title={name}>
        {id} {name}
      </a>
    ),
  },
  { title: "State", narrow: "1c", cell: (webhook) => <State webhook={webhook} /> },
  { title: "Target", narrow: "2a", cell: ({ target }) => <span title={target}>{target}</span> },
  {
    title: "Events",
    cell: (webhook) => <span title={eventsOf(webhook)}>{eventsOf(webhook)}</span>,
  },
  { title: "Last hour", narrow: "2c", cell: (webhook) => <Health webhook={webhook} isShort /> },
];

/** A failing webhook has the time of its next retry. */
const State = ({ webhook }: { webhook: Webhook }) => (
  <>
    <StateBadge webhook={webhook} />{" "}
    {webhook.failing?.nextAttemptAt !== undefined && (
      <span class="quiet">
        retry <NextAttempt atMs={webhook.failing.nextAttemptAt} />
      </span>
    )}
  </>
);

export default function Register() {
  return (
    <Page
      title="Webhooks"
      aside={
        <a class="button primary" href="/console/webhooks/new">
          New webhook
        </a>
      }
    >
      <Filters fields={FIELDS}>
        <UrlTabs label="States" tabs={useTabs()} parameter="state">
          {(state) => <List state={state} />}
        </UrlTabs>
      </Filters>
    </Page>
  );
}

/** Tabs with the number of webhooks; suspended ones, which are rare, have a tab only if there are any. */
function useTabs() {
  const health = useWebhookHealth();
  const { query } = useListState();
  const all = STATES.reduce((sum, state) => sum + (health?.[state] ?? 0), 0);
  const tab = (id: string, name: string, count: number) => ({
    id,
    title: health ? `${name} (${countText(count)})` : name,
  });
  const shown = STATES.filter(
    (state) => state !== "suspended" || query.state === state || (health?.suspended ?? 0) > 0,
  );
  return [
    tab("all", "All", all),
    ...shown.map((state) =>
      tab(state, `${state.charAt(0).toUpperCase()}${state.slice(1)}`, health?.[state] ?? 0),
    ),
  ];
}

function List({ state }: { state: string }) {
  const { operations } = useNode();
  const { page, query } = useListState();
  const known = STATES.find((name) => name === state);
  const filter: WebhookQuery = {
    ...(known && { state: known }),
    ...(query.search && { search: query.search }),
    ...orderFrom(ORDERS, query.orderBy),
  };
  const response = useResponse(
    `webhooks ${page} ${JSON.stringify(filter)}`,
    () => operations.webhooks.list(filter).page({ page, limit: LIMIT }),
    EVERY_FEW_SECONDS,
  );
  const isFiltered = known !== undefined || filter.search !== undefined;
  return (
    <ResponseView response={response} what="The register" lines={LIMIT}>
      {({ data, meta }) => (
        <div class="section webhooks">
          <Table
            caption="Webhooks"
            columns={COLUMNS}
            rows={data}
            keyOf={({ id }) => id}
            isSteady
            empty={
              isFiltered ? (
                <Empty title="No webhook matches" />
              ) : (
                <Empty title="No webhooks yet">
                  A webhook posts what happens on the chain to your receiver, signed, in order, and again
                  until it is accepted.
                </Empty>
              )
            }
          />
          {data.length > 0 && <Pager meta={meta} what="webhooks" />}
        </div>
      )}
    </ResponseView>
  );
}
