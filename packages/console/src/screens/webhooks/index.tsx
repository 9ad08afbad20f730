/** Webhook screens: pages and forms, loaded on demand. */

import { useRoute } from "preact-iso/router";
import { loadable } from "../../components/loadable.tsx";
import { Page } from "../../components/page.tsx";
import { SignInNeeded } from "../../components/states.tsx";
import { useNode } from "../../data/node.ts";
import "./webhooks.css";

const Register = loadable(() => import("./register.tsx"));
const WebhookPage = loadable(() => import("./webhook-page.tsx"));
const DeliveryPage = loadable(() => import("./delivery-page.tsx"));
const EditWebhook = loadable(() => import("./edit/index.tsx"));
const NewWebhook = loadable(() => import("./new/index.tsx"));

export default function Webhooks() {
  const { value: state } = useNode().session.state;
  const [webhook, delivery] = (useRoute().params.rest ?? "").split("/").filter(
    // As in the paths of the API, `/webhooks/1/deliveries/ID`.
    (part) => part !== "" && part !== "deliveries",
  );
  if (state?.signedIn !== true) {
    return <Page title="Webhooks">{state && <SignInNeeded title="Sign in to see webhooks" />}</Page>;
  }
  if (webhook === "new") return <NewWebhook />;
  if (webhook !== undefined && delivery === "edit") return <EditWebhook id={webhook} />;
  if (webhook === undefined) return <Register />;
  return delivery === undefined ? (
    <WebhookPage id={webhook} />
  ) : (
    <DeliveryPage webhook={webhook} id={delivery} />
  );
}
