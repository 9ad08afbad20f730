/** Texts that PostgreSQL can store. */

/** Replaces U+0000, which the text of receivers may contain. */
export const storableText = (text: string): string => text.replaceAll("\u0000", "\ufffd");
