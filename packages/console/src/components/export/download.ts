/** Saves a file that the page has created. */
export function download(file: Blob, name: string): void {
  const href = URL.createObjectURL(file);
  const link = Object.assign(document.createElement("a"), { href, download: name });
  link.click();
  // The browser reads the URL after this task.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
