/** The gateway over a message channel: calls one way, answers the other, matched by number. */
import type { MessagePort } from "node:worker_threads";
import { BodyError, type Gateway } from "./gateway.ts";

type Call = { readonly number: number; readonly method: keyof Gateway; readonly parameters: unknown[] };
type Answer =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly error: { code: string | undefined; message: string } };

/** Answers the calls that arrive at the port. */
export function answerCalls(port: MessagePort, gateway: Gateway): void {
  port.on("message", async ({ number, method, parameters }: Call) => {
    const call = gateway[method] as (...parameters: unknown[]) => Promise<unknown>;
    let answer: Answer;
    try {
      answer = { number, value: await call(...parameters) };
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      answer = { number, error: { code, message } };
    }
    port.postMessage(answer);
  });
}

/** A gateway whose calls go through the port. Calls still open when the port closes never settle. */
export function gatewayThrough(port: MessagePort): Gateway {
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let calls = 0;

  port.on("message", (answer: Answer) => {
    const call = open.get(answer.number);
    open.delete(answer.number);
    if ("error" in answer) call?.reject(revive(answer.error));
    else call?.resolve(answer.value);
  });

  const method =
    <M extends keyof Gateway>(name: M) =>
    (...parameters: Parameters<Gateway[M]>) =>
      new Promise<unknown>((resolve, reject) => {
        const number = calls++;
        open.set(number, { resolve, reject });
        port.postMessage({ number, method: name, parameters } satisfies Call);
      }) as ReturnType<Gateway[M]>;

  return {
    submit: method("submit"),
    pendingTransactions: method("pendingTransactions"),
    pendingTransaction: method("pendingTransaction"),
    status: method("status"),
    peers: method("peers"),
    figures: method("figures"),
    webhooksChanged: method("webhooksChanged"),
    streamsChanged: method("streamsChanged"),
    dev: method("dev"),
  };
}

function revive({ code, message }: { code: string | undefined; message: string }): Error {
  if (code === "BODY_SCHEMA") return new BodyError(message);
  return Object.assign(new Error(message), { code });
}
