/** Texts from receivers, as PostgreSQL can store them. */

/** Replaces U+0000, which no text of PostgreSQL can contain. */
export const toStoredText = (text: string): string => text.replaceAll("\0", "\uFFFD");
