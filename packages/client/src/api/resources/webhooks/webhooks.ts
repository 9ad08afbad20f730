/** `/webhooks`: the register, the deliveries, replays and dry runs (webhooks.md; docs/guides/webhooks.md). */
import type { Send } from "../../send.ts";
import { deliveries } from "./deliveries.ts";
import { register } from "./register.ts";
import { replays } from "./replays.ts";

/** Every request needs the webhook token of the node; that is not the token of a webhook. */
export const webhooks = (send: Send) => ({ ...register(send), ...deliveries(send), ...replays(send) });
