/** The webhook desk: every webhook, one of them with its deliveries, or one delivery with its attempts. */

import { useRoute } from "preact-iso/router";
import { loadable } from "../../components/loadable.tsx";
import { Page } from "../../components/page.tsx";
import { SignInNeeded } from "../../components/states.tsx";
import { useNode } from "../../data/node.ts";
import { DeliveryPage } from "./delivery-page.tsx";
import { Register } from "./register.tsx";
import { WebhookPage } from "./webhook-page.tsx";
import "./webhooks.css";

const EditWebhook = loadable(() => import("./edit/index.tsx"));
const NewWebhook = loadable(() => import("./new/index.tsx"));

export default function WebhookDesk() {
  const { value: state } = useNode().session.state;
  const [webhook, delivery] = (useRoute().params.rest ?? "").split("/").filter((part) => part !== "");
  if (state?.signedIn !== true) {
    return <Page title="Webhooks">{state && <SignInNeeded title="Webhooks need a sign-in" />}</Page>;
  }
  if (webhook === undefined) return <Register />;
  if (webhook === "new") return <NewWebhook />;
  if (delivery === "edit") return <EditWebhook id={webhook} />;
  return delivery === undefined ? (
    <WebhookPage id={webhook} />
  ) : (
    <DeliveryPage webhook={webhook} id={delivery} />
  );
}
