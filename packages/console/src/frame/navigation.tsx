/** List of screens; on narrow screens, a menu above the page. */

import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Badge } from "../components/badge.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";
import { troubledOf, useWebhookHealth } from "../data/webhook-health.ts";

/** Destination; its icon has the same name. */
type Destination = readonly [icon: IconName, title: string];

const CHAIN: readonly Destination[] = [
  ["overview", "Overview"],
  ["blocks", "Blocks"],
  ["transactions", "Transactions"],
  ["wallets", "Wallets"],
  ["uniks", "Uniks"],
  ["delegates", "Delegates"],
];
const EVENTS: readonly Destination[] = [
  ["webhooks", "Webhooks"],
  ["live", "Live events"],
];
const NODE: readonly Destination[] = [
  ["node", "Node"],
  ["send", "Send"],
];
const DEV: Destination = ["dev", "Dev chain"];
const DOCUMENTATION: Destination = ["docs", "Documentation"];

export const MENU_ID = "navigation";

export function Navigation() {
  const { session } = useNode();
  const { path } = useLocation();
  const nav = useRef<HTMLElement>(null);
  // Navigation closes the menu.
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
            {destinations.map(([icon, title]) => {
              const to = icon === "overview" ? "/console" : `/console/${icon}`;
              return (
                <li key={icon}>
                  <a href={to} aria-current={currentOf(path, to)}>
                    <Icon name={icon} />
                    {title}
                    {icon === "webhooks" && <Trouble />}
                  </a>
                </li>
              );
            })}
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

/** Returns `page` for the screen itself, `true` for pages below it. */
function currentOf(path: string, to: string): "page" | "true" | undefined {
  if (path === to) return "page";
  return to !== "/console" && path.startsWith(`${to}/`) ? "true" : undefined;
}
