/** The forms of the verbs, but for the longest. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { durationText, shortened } from "../../components/format.ts";
import type { Verbs } from "./use-verbs.ts";
import { CountField, MAX_BLOCKS, VerbCard } from "./verb-card.tsx";

/** Of one request (docs/guides/dev-chain.md). */
const MAX_SECONDS = 1e10;

export function Mine({ verbs }: { verbs: Verbs }) {
  const [blocks, setBlocks] = useState(1);
  return (
    <VerbCard
      title="Mine"
      hint="Forges blocks at once; the first takes what is pending. The clock of the chain moves where it must."
      command={{ verb: "mine", body: { blocks } }}
      button="Mine"
      verbs={verbs}
    >
      <CountField id="mine-blocks" label="Blocks" value={blocks} max={MAX_BLOCKS} onChange={setBlocks} />
    </VerbCard>
  );
}

export function Forge({ verbs, isForging }: { verbs: Verbs; isForging: boolean | undefined }) {
  return (
    <VerbCard
      title="Forging"
      hint={
        isForging === false
          ? "It is paused: only blocks that you ask for are forged."
          : "The chain forges a block in each slot. Paused, it forges only what you ask for."
      }
      command={{ verb: "forge", body: { enabled: isForging === false } }}
      button={isForging === false ? "Resume" : "Pause"}
      verbs={verbs}
      isDisabled={isForging === undefined}
    />
  );
}

const JOURNEYS = [60, 3_600, 86_400, 604_800];

export function Travel({ verbs }: { verbs: Verbs }) {
  const [seconds, setSeconds] = useState(3_600);
  return (
    <VerbCard
      title="Travel"
      hint="Moves the clock of the chain forward. It never moves back, not even by a restart."
      command={{ verb: "travel", body: { seconds } }}
      button={`Travel ${durationText(seconds)}`}
      verbs={verbs}
    >
      <CountField
        id="travel-seconds"
        label="Seconds"
        value={seconds}
        max={MAX_SECONDS}
        onChange={setSeconds}
      />
      <div class="journeys">
        {JOURNEYS.map((journey) => (
          <button key={journey} type="button" onClick={() => setSeconds(journey)}>
            {durationText(journey)}
          </button>
        ))}
      </div>
    </VerbCard>
  );
}

/** Newest first; as long as the page is open. Nothing is stored by the node either: an id is all that it takes. */
const remembered = signal<readonly { readonly id: string; readonly height: number }[]>([]);
const MAX_REMEMBERED = 20;

export function Snapshots({ verbs }: { verbs: Verbs }) {
  const [id, setId] = useState("");

  async function remember(): Promise<void> {
    const change = await verbs.run({ verb: "snapshot", body: {} });
    if (!change) return;
    const { head } = change;
    const others = remembered.value.filter(({ id }) => id !== head.id);
    remembered.value = [head, ...others].slice(0, MAX_REMEMBERED);
    setId(head.id);
  }

  return (
    <VerbCard
      title="Snapshot and return"
      hint="Reverts everything above a block, and drops what is pending. The last 10,000 blocks can be restored."
      command={{ verb: "restore", body: { id } }}
      button="Return"
      verbs={verbs}
    >
      <div>
        <label for="restore-id">Id of the block</label>
        <input
          id="restore-id"
          list="remembered"
          required
          pattern="[0-9a-f]{64}"
          spellcheck={false}
          autocomplete="off"
          value={id}
          onInput={({ currentTarget }) => setId(currentTarget.value.trim())}
        />
        <datalist id="remembered">
          {remembered.value.map(({ id, height }) => (
            <option key={id} value={id}>{`height ${height}, ${shortened(id)}`}</option>
          ))}
        </datalist>
      </div>
      <button type="button" disabled={verbs.running !== undefined} onClick={remember}>
        Remember the head
      </button>
    </VerbCard>
  );
}
