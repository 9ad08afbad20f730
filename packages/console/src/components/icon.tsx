/** Icons next to text, drawn on a square of 24 units. */
const SHAPES = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z",
  blocks: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  transactions: "M4 8h15l-4-4M20 16H5l4 4",
  wallets: "M4 7h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zm0 0 11-3v3M16 13.5h.01",
  uniks: "M12 3l2.6 5.6 6 .8-4.4 4.2 1.1 6L12 16.7 6.7 19.6l1.1-6L3.4 9.4l6-.8z",
  delegates:
    "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-6 7-6s7 2 7 6M17 4a3.5 3.5 0 0 1 0 6.8M22 20c0-3-1.5-4.6-4-5.3",
  webhooks: "M9 9.5a4 4 0 1 1 5.7 2.2l2.4 4.3M7 13a4 4 0 1 0 4 4h6M17 21a4 4 0 1 0-1.5-7.7",
  live: "M3 12h4l3-8 4 16 3-8h4",
  node: "M5 4h14v6H5zM5 14h14v6H5zM8 7h.01M8 17h.01",
  dev: "M8 7l-5 5 5 5M16 7l5 5-5 5M13.5 4l-3 16",
  send: "M21 3L10 14M21 3l-7 18-4-7-7-4z",
  docs: "M5 4h10a4 4 0 0 1 4 4v12H9a4 4 0 0 1-4-4zM9 9h6M9 13h6",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  menu: "M4 7h16M4 12h16M4 17h16",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  check: "M5 12.5l5 5L19 7",
  close: "M6 6l12 12M18 6L6 18",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  signout: "M10 4H5v16h5M15 8l4 4-4 4M19 12H9",
} as const;

export type IconName = keyof typeof SHAPES;

/** Decorative icon: the text next to it has the meaning. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}
