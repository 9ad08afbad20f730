/** Forms of the commands, except the longest. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { CountField } from "../../components/count-field.tsx";
import { durationText, shortened } from "../../components/format.ts";
import { CommandCard, MAX_BLOCKS } from "./command-card.tsx";
import type { Commands } from "./use-commands.ts";

/** Maximum per request (docs/guides/dev-chain.md). */
const MAX_SECONDS = 1e10;

export function Mine({ commands }: { commands: Commands }) {
  const [blocks, setBlocks] = useState(1);
  return (
    <CommandCard
      title="Mine"
      isOpen
      hint="Forges blocks immediately; the first one contains the pending transactions. The chain's clock moves forward if necessary."
      command={{ name: "mine", body: { blocks } }}
      button="Mine"
      commands={commands}
    >
      <CountField id="mine-blocks" label="Blocks" value={blocks} max={MAX_BLOCKS} onChange={setBlocks} />
    </CommandCard>
  );
}

export function Forge({ commands, isForging }: { commands: Commands; isForging: boolean | undefined }) {
  return (
    <CommandCard
      title="Forging"
      isOpen
      hint={
        isForging === false
          ? "Paused: blocks are forged only on request."
          : "The chain forges a block in every slot. While paused, it forges only on request."
      }
      command={{ name: "forge", body: { enabled: isForging === false } }}
      button={isForging === false ? "Resume" : "Pause"}
      commands={commands}
      isDisabled={isForging === undefined}
    />
  );
}

const JOURNEYS = [60, 3_600, 86_400, 604_800];

export function Travel({ commands }: { commands: Commands }) {
  const [seconds, setSeconds] = useState(3_600);
  return (
    <CommandCard
      title="Travel"
      hint="Moves the chain's clock forward. It cannot move back, even if the node restarts."
      command={{ name: "travel", body: { seconds } }}
      button={`Travel ${durationText(seconds)}`}
      commands={commands}
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
    </CommandCard>
  );
}

/** Remembered ids, newest first, until the page is closed. The node stores nothing: an id is sufficient to restore. */
const remembered = signal<readonly { readonly id: string; readonly height: number }[]>([]);
const MAX_REMEMBERED = 20;

export function Snapshots({ commands }: { commands: Commands }) {
  const [id, setId] = useState("");

  async function remember(): Promise<void> {
    const change = await commands.run({ name: "snapshot", body: {} });
    if (!change) return;
    const { head } = change;
    const others = remembered.value.filter(({ id }) => id !== head.id);
    remembered.value = [head, ...others].slice(0, MAX_REMEMBERED);
    setId(head.id);
  }

  return (
    <CommandCard
      title="Snapshot and return"
      hint="Reverts all blocks above the chosen one and drops pending transactions. The last 10,000 blocks can be restored."
      command={{ name: "restore", body: { id } }}
      button="Return"
      commands={commands}
    >
      <div>
        <label for="restore-id">Block id</label>
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
      <button type="button" disabled={commands.running !== undefined} onClick={remember}>
        Remember the head
      </button>
    </CommandCard>
  );
}
