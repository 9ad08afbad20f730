/** Live events, with filters from the URL and a pause button. */
import { useComputed } from "@preact/signals";
import { EquivalentForms } from "../../components/equivalent-forms.tsx";
import { Filters } from "../../components/filters.tsx";
import { countText } from "../../components/format.ts";
import { useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { Empty, Failure, SignInNeeded } from "../../components/states.tsx";
import { useNode } from "../../data/node.ts";
import { choiceOf, curlOf, OPERATOR_OPTIONS, programOf, webhookHref } from "./choice.ts";
import { EventRow } from "./event-row.tsx";
import { rateOf, retractedIn } from "./tail.ts";
import { type TailState, useTail } from "./use-tail.ts";
import "./live.css";

const FIELDS = [
  { name: "events", label: "Events", placeholder: "block.*" },
  { name: "key", label: "Member", placeholder: "amount" },
  { name: "condition", label: "Condition", options: OPERATOR_OPTIONS },
  { name: "value", label: "Value", placeholder: "100000000" },
  { name: "from", label: "From height", placeholder: "now" },
];

export default function Live() {
  const { value: session } = useNode().session.state;
  if (session?.signedIn || session?.eventsPublic) return <Tail />;
  return <Page title="Live events">{session && <SignInNeeded title="Sign in to see live events" />}</Page>;
}

function Tail() {
  const { query } = useListState();
  const choice = choiceOf(query);
  const state = useTail(JSON.stringify(choice), choice);
  return (
    <Page title="Live events" aside={<Buttons state={state} />}>
      <Filters fields={FIELDS} />
      <p class="live-links">
        <Rate state={state} />
        <a href={webhookHref(choice)}>Create a webhook from this filter</a>
      </p>
      <EventList state={state} />
      <EquivalentForms
        what="this stream"
        forms={[
          { id: "curl", title: "curl", text: curlOf(choice, location.origin) },
          { id: "client", title: "JavaScript", text: programOf(choice, location.origin) },
        ]}
      />
    </Page>
  );
}

function Buttons({ state: { tail, isPaused, setPaused, clear } }: { state: TailState }) {
  const { waiting } = tail.value;
  return (
    <>
      <button type="button" aria-pressed={isPaused.value} onClick={() => setPaused(!isPaused.value)}>
        {isPaused.value ? `Resume (${countText(waiting.length)} new)` : "Pause"}
      </button>
      <button type="button" onClick={clear}>
        Empty
      </button>
    </>
  );
}

function Rate({ state: { tail } }: { state: TailState }) {
  const { nowMs, clockOffsetMs } = useNode();
  const text = useComputed(() => {
    const rate = rateOf(tail.value, nowMs.value - clockOffsetMs.value);
    return `${rate.toFixed(1)} events/s · ${countText(tail.value.count)} in all`;
  });
  return <span class="quiet">{text}</span>;
}

function EventList({ state: { tail, error, retry } }: { state: TailState }) {
  const { shown } = tail.value;
  const retracted = retractedIn(shown);
  return (
    <>
      {error.value !== undefined && <Failure error={error.value} what="The stream" onRetry={retry} />}
      {shown.length > 0 ? (
        <ol class="live-events card" aria-label="Events, newest first">
          {shown.map((event) => (
            <EventRow key={event.number} event={event} isRetracted={retracted.has(event.number)} />
          ))}
        </ol>
      ) : (
        error.value === undefined && (
          <Empty title="Waiting for the next event">
            Events appear here as they happen. If a height is given, the events since that block come first.
          </Empty>
        )
      )}
    </>
  );
}
