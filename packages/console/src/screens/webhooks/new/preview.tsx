/** The last events that a draft would have received, updated on input and with each block. */
import type { DryRun, TriedEvent } from "@uniknode/client";
import { useEffect, useState } from "preact/hooks";
import { Badge } from "../../../components/badge.tsx";
import { Json } from "../../../components/code-block.tsx";
import { countOfText, countText } from "../../../components/format.ts";
import { Empty, ResponseView } from "../../../components/states.tsx";
import { useNode, useResponse } from "../../../data/node.ts";
import type { CachedResponse } from "../../../data/response-cache.ts";
import { Warnings } from "../warnings.tsx";
import { type Draft, type Member, membersOf, selectionOf } from "./draft.ts";
import { missingSelectionOf } from "./sentences.ts";

const PAUSE_MS = 400;
const BLOCKS = [10, 100, 1_000];

export type Trial = {
  /** Asks for what the draft lacks; then there is no response. */
  readonly missing: string | undefined;
  readonly response: CachedResponse<{ readonly data: DryRun }>;
  /** Members of an example event, for conditions. */
  readonly members: readonly Member[];
  readonly blocks: number;
  readonly setBlocks: (blocks: number) => void;
};

export function useTrial(draft: Draft): Trial {
  const { operations } = useNode();
  const [blocks, setBlocks] = useState(100);
  const missing = missingSelectionOf(draft);
  const body = missing === undefined ? { ...selectionOf(draft), blocks } : undefined;
  const key = useDelayed(JSON.stringify(body));
  const response = useResponse(key && `dry run ${key}`, () =>
    operations.webhooks.test(JSON.parse(key ?? "") as NonNullable<typeof body>),
  );
  const { fired, notFired } = response.value?.data ?? {};
  const example = (fired?.events[0] ?? notFired?.events[0])?.data;
  return { missing, response, members: membersOf(example), blocks, setBlocks };
}

/** Debounces a value. */
function useDelayed<Value>(value: Value): Value {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}

export function Preview({ trial: { missing, response, blocks, setBlocks } }: { trial: Trial }) {
  return (
    <div class="card preview">
      {missing === undefined ? (
        <>
          <BlocksField blocks={blocks} onChange={setBlocks} />
          <ResponseView response={response} what="The preview">
            {({ data }) => <Report report={data} />}
          </ResponseView>
        </>
      ) : (
        <Empty title="The last events that match appear here">{missing}</Empty>
      )}
    </div>
  );
}

const BlocksField = ({ blocks, onChange }: { blocks: number; onChange: (blocks: number) => void }) => (
  <p>
    <label for="preview-blocks">Events in the</label>{" "}
    <select
      id="preview-blocks"
      value={blocks}
      onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
    >
      {BLOCKS.map((count) => (
        <option key={count} value={count}>{`last ${countText(count)} blocks`}</option>
      ))}
    </select>
  </p>
);

function Report({ report: { fired, notFired, notRemembered, note, warnings } }: { report: DryRun }) {
  return (
    <>
      <p class="sentence" role="status">
        <strong>{countOfText(fired.count, "events")}</strong> {fired.count === 1 ? "matches" : "match"}
        {notFired.count > 0 && `, ${countText(notFired.count)} ${notFired.count === 1 ? "does" : "do"} not`}.
      </p>
      <Warnings warnings={warnings} />
      {note !== undefined && <p class="quiet">{note}.</p>}
      {notRemembered.length > 0 && (
        <p class="quiet" title={notRemembered.join(", ")}>
          {namesText(notRemembered)} cannot be read from stored blocks. The node delivers such events when
          they occur.
        </p>
      )}
      <Tried title="Would be delivered" events={fired.events} />
      <Tried title="Would not be delivered" events={notFired.events} />
    </>
  );
}

const MAX_NAMES = 3;
const MAX_SHOWN = 3;

const namesText = (names: readonly string[]): string =>
  names.length > MAX_NAMES ? countOfText(names.length, "kinds of events") : names.join(", ");

type TriedProps = { readonly title: string; readonly events: readonly TriedEvent[] };

function Tried({ title, events }: TriedProps) {
  if (events.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      {events.slice(0, MAX_SHOWN).map((event, index) => (
        <Example key={index} event={event} />
      ))}
    </>
  );
}

function Example({ event: { event, height, data, conditions } }: { readonly event: TriedEvent }) {
  const [isOpen, setOpen] = useState(false);
  const failing = conditions
    .filter(({ holds }) => !holds)
    .map(
      ({ key, found }) =>
        `${key} is ${found.length > 0 ? found.map(String).join(", ").slice(0, 60) : "missing"}`,
    );
  const details = [height !== undefined && `block ${countText(height)}`, failing.join(", ")];
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Badge>{event}</Badge> {details.filter(Boolean).join(": ")}
      </summary>
      {isOpen && <Json value={data} what={`content of ${event}`} />}
    </details>
  );
}
