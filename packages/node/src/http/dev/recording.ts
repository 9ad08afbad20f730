/** The actions of a dev chain as a scenario file (docs/guides/scenarios.md). */
import type { Scenario } from "@uniknode/client/testing";
import { Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { described, single } from "../documentation/route.ts";

const Recording = Type.Object(
  {
    scenario: Type.Literal(1),
    name: Type.String(),
    steps: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: "Actions, and the present state as expectations.",
    }),
  },
  { title: "DevRecording" },
);

/** Returns the recorded scenario, and begins a new recording if `isRestarted`. */
export type ReadRecording = (isRestarted: boolean) => Promise<Scenario>;

export function addRecordingRoutes(app: Server, readRecording: ReadRecording): void {
  const schemaOf = (summary: string) => ({
    ...described("Dev", summary, single(Recording)),
    response: {
      200: single(Recording),
      401: Type.Object({}, { description: "Wrong token." }),
      403: Type.Object({}, { description: "The chain is not a dev chain." }),
    },
    security: [{ token: [] }],
  });
  const dataOf = async (isRestarted: boolean) => {
    const { scenario, name, steps } = await readRecording(isRestarted);
    return { data: { scenario, name, steps: [...steps] } };
  };
  app.get("/dev/recording", { schema: schemaOf("Returns the recorded actions as a scenario.") }, () =>
    dataOf(false),
  );
  app.delete(
    "/dev/recording",
    { schema: schemaOf("Returns the recorded actions, and begins a new recording.") },
    () => dataOf(true),
  );
}
