/** The list of screens; where there is no room beside the page, it opens above it. */

import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Badge } from "../components/badge.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";
import { troubledOf, useWebhookHealth } from "../data/webhook-health.ts";

type Destination = { readonly path: string; readonly title: string; readonly icon: IconName };

const CHAIN: readonly Destination[] = [
  { path: "/console", title: "Overview", icon: "overview" },
  { path: "/console/blocks", title: "Blocks", icon: "blocks" },
  { path: "/console/transactions", title: "Transactions", icon: "transactions" },
  { path: "/console/wallets", title: "Wallets", icon: "wallets" },
  { path: "/console/uniks", title: "Uniks", icon: "uniks" },
  { path: "/console/delegates", title: "Delegates", icon: "delegates" },
];
const WEBHOOKS = "/console/webhooks";
const EVENTS: readonly Destination[] = [
  { path: WEBHOOKS, title: "Webhooks", icon: "webhooks" },
  { path: "/console/live", title: "Live events", icon: "live" },
];
const NODE: readonly Destination[] = [
  { path: "/console/node", title: "Node", icon: "node" },
  { path: "/console/send", title: "Send", icon: "send" },
];
const DEV: Destination = { path: "/console/dev", title: "Dev chain", icon: "dev" };
const DOCUMENTATION: Destination = { path: "/console/docs", title: "Documentation", icon: "docs" };

export const MENU_ID = "navigation";

export function Navigation() {
  const { session } = useNode();
  const { path } = useLocation();
  const nav = useRef<HTMLElement>(null);
  // Another page closes the menu.
  useEffect(() => {
    if (nav.current?.matches(":popover-open")) nav.current.hidePopover();
  }, [path]);
  const groups = [
    { title: "Chain", destinations: CHAIN },
    { title: "Events", destinations: EVENTS },
    {
      title: "Node",
      destinations: [...NODE, ...(session.state.value?.devChain ? [DEV] : []), DOCUMENTATION],
    },
  ];
  return (
    <nav class="nav" id={MENU_ID} popover="auto" ref={nav} aria-label="Screens">
      {groups.map(({ title, destinations }) => (
        <div key={title}>
          <h2>{title}</h2>
          <ul>
            {destinations.map(({ path: to, title, icon }) => (
              <li key={to}>
                <a href={to} aria-current={currentOf(path, to)}>
                  <Icon name={icon} />
                  {title}
                  {to === WEBHOOKS && <Trouble />}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Number of webhooks whose receivers need attention. */
function Trouble() {
  const health = useWebhookHealth();
  const count = health === undefined ? 0 : troubledOf(health);
  if (count === 0) return null;
  return (
    <>
      {" "}
      <Badge tone="bad">
        {count}
        <span class="unseen"> failing</span>
      </Badge>
    </>
  );
}

/** `page` for the screen itself, `true` for what is below it. */
function currentOf(path: string, to: string): "page" | "true" | undefined {
  if (path === to) return "page";
  return to !== "/console" && path.startsWith(`${to}/`) ? "true" : undefined;
}
