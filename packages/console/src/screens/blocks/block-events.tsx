/** Events of a block, from the stream of the node. */
import type { StreamedEvent } from "@uniknode/client";
import { Badge } from "../../components/badge.tsx";
import { Json } from "../../components/code-block.tsx";
import { countText } from "../../components/format.ts";
import { Empty, ResponseView, SignInNeeded } from "../../components/states.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { STORED_EVENTS } from "./stored-events.ts";

type BlockProps = { readonly id: string; readonly height: number };

/** Upper bound for a block of 500 transactions. */
const MAX_EVENTS = 5_000;
/** Timeout, because the stream continues with later blocks; stored events arrive immediately. */
const TIMEOUT_MS = 5_000;

export default function BlockEvents({ id, height }: BlockProps) {
  const { session, operations, api } = useNode();
  const { value: state } = session.state;
  const isOpen = state?.signedIn === true || state?.eventsPublic === true;
  const { stream } = (state?.signedIn ? operations : api).events;
  const response = useResponse(
    isOpen ? `block ${id} events` : undefined,
    () => eventsOf(stream, { id, height }),
    { lasts: "session" },
  );
  if (!isOpen) return <SignInNeeded title="Sign in to see events" />;
  return (
    <ResponseView response={response} what="The events of the block">
      {(events) =>
        events.length === 0 ? (
          <Empty title="The node no longer has the events of this block" />
        ) : (
          <>
            <p class="quiet">{countText(events.length)} events, in order.</p>
            {events.map((event) => (
              <details key={event.id}>
                <summary>
                  <Badge tone={event.event.startsWith("block.") ? "accent" : "plain"}>{event.event}</Badge>
                </summary>
                <Json value={event.data} what={`content of ${event.event}`} />
              </details>
            ))}
          </>
        )
      }
    </ResponseView>
  );
}

/** Reads the events that can be derived from the stored block; its `block.applied` is the last one. */
async function eventsOf(
  stream: ReturnType<typeof useNode>["api"]["events"]["stream"],
  { id, height }: BlockProps,
): Promise<readonly StreamedEvent[]> {
  const found: StreamedEvent[] = [];
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    for await (const event of stream({ events: STORED_EVENTS, fromHeight: height, signal })) {
      if (event.blockId === id) found.push(event);
      const isOver = event.height !== undefined && event.height > height;
      if (isOver || (event.event === "block.applied" && event.blockId === id) || found.length === MAX_EVENTS)
        break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return found;
}
