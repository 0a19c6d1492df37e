/** Copying, also where the page came over plain HTTP and the browser offers no clipboard. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const before = document.activeElement as HTMLElement | null;
  const field = document.createElement('textarea');
  field.className = 'hidden';
  field.value = text;
  // Inside an open dialog, or it couldn't take the selection.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  before?.focus();
  if (!copied) throw new Error('not copied');
}
