/** Deliveries of a webhook, newest first, with a button to send selected or matching ones immediately. */
import type { DeliveryQuery, DeliveryRecord, DeliveryState } from "@uniknode/client";
import { useState } from "preact/hooks";
import { heightFault } from "../../components/faults.ts";
import { areValid, Filters } from "../../components/filters.tsx";
import { clockText, countOfText, countText } from "../../components/format.ts";
import { hrefOf } from "../../components/identifier.tsx";
import { useListState } from "../../components/list-state.ts";
import { Section } from "../../components/page.tsx";
import { setMember } from "../../components/set-member.ts";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { causeOf } from "./cause.ts";
import { DeliveryBadge, failureOf, NextAttempt } from "./state.tsx";
import { Outcome, useAction } from "./use-action.tsx";

const LIMIT = 50;
const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 3_000 } as const;
const STATES: readonly { readonly value: DeliveryState | ""; readonly label: string }[] = [
  { value: "", label: "All states" },
  { value: "pending", label: "Pending" },
  { value: "delivered", label: "Delivered" },
  { value: "failed", label: "Failed" },
  { value: "cancelled", label: "Cancelled" },
];

const FIELDS = [
  { name: "state", label: "State", options: STATES },
  { name: "event", label: "Event", placeholder: "block.applied" },
  { name: "height", label: "Height", faultOf: heightFault },
];

export function Deliveries({ webhook }: { webhook: number }) {
  const { webhooks } = useNode().operations;
  const { query } = useListState();
  const filter = filterOf(query);
  const isInvalid = !areValid(FIELDS, query);
  const action = useAction();
  const response = useResponse(
    `webhook ${webhook} deliveries ${JSON.stringify(filter)}`,
    () => webhooks.deliveries(webhook, filter).page({ limit: LIMIT }),
    EVERY_FEW_SECONDS,
  );
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const sendNow = async () => {
    const { data } = await webhooks.retryAll(
      webhook,
      selected.size > 0 ? { deliveries: [...selected] } : { state: "all", ...filter },
    );
    setSelected(new Set());
    return `${countOfText(data.retried, "deliveries")} ${data.retried === 1 ? "is" : "are"} tried again now`;
  };
  const select = (id: number, isChosen: boolean) => setSelected(setMember(selected, id, isChosen));
  return (
    <Section
      title="Deliveries"
      aside={
        <button
          type="button"
          disabled={action.isRunning || isInvalid}
          onClick={() => void action.run(sendNow)}
        >
          {sendText(selected.size, filter)}
        </button>
      }
    >
      <Filters fields={FIELDS}>
        <Outcome action={action} />
        <ResponseView response={response} what="The log">
          {({ data }) => (
            <>
              <Durations deliveries={data} />
              <Table
                caption="Deliveries"
                columns={[selectColumn(selected, select), ...columnsOf(webhook)]}
                rows={data}
                keyOf={({ id }) => id}
                empty={
                  <Empty title="No delivery matches">Deliveries appear here when an event matches.</Empty>
                }
              />
            </>
          )}
        </ResponseView>
      </Filters>
    </Section>
  );
}

/** Maximum number of bars. */
const MAX_BARS = 60;
/** Bars for which a chart has room at least: fewer would be wide. */
const MIN_BARS = 20;

/** Durations of the attempts of deliveries as bars, oldest first; the ones of failed attempts are marked. */
function Durations({ deliveries }: { deliveries: readonly DeliveryRecord[] }) {
  const attempts = deliveries
    .flatMap(({ attempts }) => attempts)
    .sort((a, b) => a.startedAt - b.startedAt)
    .slice(-MAX_BARS);
  const [first] = attempts;
  const last = attempts.at(-1);
  if (!first || !last) return null;
  const longest = Math.max(1, ...attempts.map(({ durationMs }) => durationMs));
  const failed = attempts.filter((attempt) => failureOf(attempt) !== undefined).length;
  const title = `Duration of the last ${countOfText(attempts.length, "attempts")}`;
  const width = Math.max(MIN_BARS, attempts.length);
  return (
    <figure class="card chart durations" style={{ "--rows": 1 }}>
      <figcaption>
        <span class="quiet">{title}</span>
        <strong>{countText(attempts.length - failed)} accepted</strong>
      </figcaption>
      <div class="axis">
        <span>{countText(longest)} ms</span>
        <span>0 ms</span>
      </div>
      <div class="plot">
        <svg
          class="hours"
          viewBox={`0 0 ${width} ${longest}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}: at most ${countText(longest)} ms, ${countText(failed)} failed`}
        >
          {attempts.map((attempt, index) => {
            const { startedAt, durationMs } = attempt;
            const reason = failureOf(attempt);
            const height = Math.max(durationMs, longest / 40);
            return (
              <rect
                key={index}
                class={reason && "bad"}
                x={width - attempts.length + index}
                y={longest - height}
                width={0.8}
                height={height}
              >
                <title>{`${clockText(startedAt)}: ${countText(durationMs)} ms, ${reason ?? "accepted"}`}</title>
              </rect>
            );
          })}
        </svg>
      </div>
      <div class="axis times">
        <span>{clockText(first.startedAt)}</span>
        <span>{clockText(last.startedAt)}</span>
      </div>
    </figure>
  );
}

function sendText(selected: number, filter: DeliveryQuery): string {
  if (selected > 0) return `Send ${countText(selected)} selected now`;
  return Object.keys(filter).length === 0 ? "Send all undelivered now" : "Send all that match now";
}

const selectColumn = (
  selected: ReadonlySet<number>,
  onSelect: (id: number, isChosen: boolean) => void,
): Column<DeliveryRecord> => ({
  title: "Select",
  narrow: "1a",
  cell: ({ id }) => (
    <input
      type="checkbox"
      aria-label={`Select delivery ${id}`}
      checked={selected.has(id)}
      onChange={({ currentTarget }) => onSelect(id, currentTarget.checked)}
    />
  ),
});

const columnsOf = (webhook: number): readonly Column<DeliveryRecord>[] => [
  {
    title: "Delivery",
    narrow: "2a",
    cell: ({ id }) => <a href={`/console/webhooks/${webhook}/${id}`}>{id}</a>,
  },
  { title: "State", narrow: "1c", cell: ({ state }) => <DeliveryBadge state={state} /> },
  {
    title: "Event",
    narrow: "1b",
    cell: ({ event, reverts }) => (reverts ? `${event}, retracts another` : event),
  },
  {
    title: "Block",
    cell: ({ height, blockId }) =>
      height && blockId && <a href={hrefOf.block(blockId)}>{countText(height)}</a>,
  },
  { title: "Created", narrow: "2b", cell: ({ createdAt }) => <Time timeMs={createdAt} clock="machine" /> },
  { title: "Attempts", narrow: "2c", cell: ({ attempts }) => countText(attempts.length), isNumber: true },
  {
    title: "Next attempt",
    cell: ({ nextAttemptAt }) => nextAttemptAt && <NextAttempt atMs={nextAttemptAt} />,
    isMinor: true,
  },
  { title: "Cause", cell: ({ reason }) => reason && causeOf(reason).text, isMinor: true },
];

/** Parses the filters in the URL, all of which are valid. */
export function filterOf({ state, event, height = "" }: Readonly<Record<string, string>>): DeliveryQuery {
  const known = STATES.find(({ value }) => value !== "" && value === state)?.value;
  return {
    ...(known && { state: known }),
    ...(event && { event }),
    ...(height && { height: Number(height) }),
  };
}
