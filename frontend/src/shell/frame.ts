/** What every dialog is framed by. The browser's own `dialog` keeps the focus inside and gives it back. */

import { html, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from '../actions';
import { icon } from '../icons';

const show = (element: Element | undefined) => {
  const dialog = element as HTMLDialogElement | undefined;
  // A new element is told of before it is in the document.
  if (dialog) queueMicrotask(() => dialog.isConnected && !dialog.open && dialog.showModal());
};

/** Closed by itself, so that the focus goes back to where it came from. */
export const shut = (event: Event) => (event.currentTarget as Element).closest('dialog')?.close();

/** The same from outside of it, when what it was for is done. */
export const shutOpen = (): void => document.querySelector<HTMLDialogElement>('dialog[open]')?.close();

export function frame(title: string, body: TemplateResult, actions: Actions, wide = false): TemplateResult {
  return html`<dialog class="dialog ${wide ? 'wide' : ''}" aria-labelledby="dialog-title" ${ref(show)} @close=${() => actions.dialog(null)}
      @click=${(event: Event) => event.target === event.currentTarget && (event.currentTarget as HTMLDialogElement).close()}>
    <div class="dialog-inner"><header><h2 id="dialog-title">${title}</h2>
      <button type="button" class="icon-button" aria-label="Close" @click=${shut}>${icon('close', 17)}</button></header>${body}</div></dialog>`;
}
