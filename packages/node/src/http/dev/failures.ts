/** Simulated failures of receivers, on request: a command of the dev chain (docs/guides/dev-chain.md). */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { Failure, Failures } from "../../webhooks/delivery/failures.ts";
import type { Register } from "../../webhooks/register/register.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { described, single } from "../documentation/route.ts";
import { body } from "../requests/list-schemas.ts";
import { withHttpErrors } from "../webhooks/responses.ts";
import { DEV_REFUSALS, WITH_TOKEN } from "./accounts.ts";

/** Register and failures on which the routes operate. */
export type Receivers = {
  readonly failures: Failures;
  readonly register: Pick<Register, "find" | "list">;
};

const MAX_SECONDS = 3_600;
const status = Type.Integer({ minimum: 400, maximum: 599, description: "Only with `refuse`; default 503." });
const seconds = Type.Integer({
  minimum: 1,
  maximum: MAX_SECONDS,
  description: "Only with `delay`; default 30.",
});

const Fail = body({
  webhook: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  how: Type.Enum(["refuse", "delay", "drop", "not"], {
    description:
      "`refuse`: attempts get a response with the status. `delay`: attempts reach the receiver late, or time out. `drop`: connections are closed. `not`: attempts reach the receiver again.",
  }),
  status: Type.Optional(status),
  seconds: Type.Optional(seconds),
});
const Failing = Type.Array(
  Type.Object(
    {
      webhook: Type.Integer({ minimum: 1 }),
      how: Type.Enum(["refuse", "delay", "drop"]),
      status: Type.Optional(status),
      seconds: Type.Optional(seconds),
    },
    { title: "FailingReceiver" },
  ),
);

/** @param receivers undefined on a node that is not a dev chain or has no webhooks: the routes then refuse with the reason */
export function addFailureRoutes(app: Server, receivers: Receivers | undefined): void {
  function known(): Receivers {
    if (receivers) return receivers;
    throw new HttpError(
      "DEV_ONLY",
      "failures of receivers can be simulated only on a dev chain with webhooks: start one with npm start",
    );
  }

  async function show({ failures, register }: Receivers) {
    // Removed webhooks no longer have a receiver.
    const { webhooks } = await register.list({ offset: 0, limit: Number.MAX_SAFE_INTEGER });
    const ids = new Set(webhooks.map(({ id }) => id));
    for (const id of [...failures.all().keys()]) if (!ids.has(id)) failures.end(id);
    return { data: [...failures.all()].map(([webhook, failure]) => ({ webhook, ...failure })) };
  }

  app.get("/dev/fail", { schema: schemaOf("Lists the receivers with simulated failures.") }, () =>
    withHttpErrors(async () => show(known())),
  );

  const documented = schemaOf("Starts or stops simulated failures of the receiver of a webhook.");
  app.post("/dev/fail", { schema: { ...documented, body: Fail } }, ({ body }) =>
    withHttpErrors(async () => {
      const { failures, register } = known();
      const { id } = await register.find(`${body.webhook}`);
      const failure = failureOf(body);
      if (failure) failures.begin(id, failure);
      else failures.end(id);
      return show({ failures, register });
    }),
  );
}

/** Returns the failure of a request; undefined if the receiver must not fail. */
function failureOf({ how, status, seconds }: Static<typeof Fail>): Failure | undefined {
  if (status !== undefined && how !== "refuse") throw surplus("status", "refuse");
  if (seconds !== undefined && how !== "delay") throw surplus("seconds", "delay");
  switch (how) {
    case "refuse":
      return { how, status: status ?? 503 };
    case "delay":
      return { how, seconds: seconds ?? 30 };
    case "drop":
      return { how };
    case "not":
      return undefined;
  }
}

const surplus = (member: string, how: string): HttpError =>
  new HttpError("INVALID_MEMBER", `"${member}" is allowed only with "how": "${how}": omit it`);

const schemaOf = (summary: string) => described("Dev", summary, single(Failing), WITH_TOKEN, DEV_REFUSALS);
