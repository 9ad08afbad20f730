/** Card that saves the actions on the chain as a scenario file (docs/guides/scenarios.md). */
import { type DevRecording, scenarioText } from "@uniknode/client";
import { useState } from "preact/hooks";
import { announce } from "../../components/announce.tsx";
import { errorText } from "../../components/error-text.ts";
import { download } from "../../components/export/download.ts";
import { countOfText } from "../../components/format.ts";
import { useNode } from "../../data/node.ts";

const FILE = "scenario.json";

export function Recording() {
  const { operations } = useNode();
  const [saved, setSaved] = useState<string>();
  const [failure, setFailure] = useState<string>();

  async function save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setFailure(undefined);
    try {
      const { data } = await operations.dev.recording();
      download(new Blob([scenarioText(data)], { type: "application/json" }), FILE);
      const text = savedText(data);
      setSaved(text);
      announce(text);
    } catch (error) {
      setFailure(errorText(error));
    }
  }

  return (
    <section class="card command">
      <h2>Scenario</h2>
      <p class="quiet">
        The actions on this chain since the node started, as a test that{" "}
        <code>uniknode scenario run {FILE}</code> plays on a new chain.
      </p>
      <form onSubmit={(event) => void save(event)}>
        <button type="submit" class="primary">
          Save as scenario
        </button>
      </form>
      {saved && <p class="quiet">{saved}</p>}
      {failure !== undefined && (
        <p class="bad-text" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}

/** Notes of a recording name actions that are missing. */
function savedText({ steps }: DevRecording): string {
  const notes = steps.filter((step) => "note" in step).length;
  const missing = notes > 0 ? `; ${countOfText(notes, "notes")} about missing actions` : "";
  return `${FILE} is saved with ${countOfText(steps.length, "steps")}${missing}.`;
}
