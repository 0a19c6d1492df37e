/** A word about what was just done, with the way back. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import type { AppState } from '../state';

export function toastView({ toast }: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (!toast) return nothing;
  const does = toast.change !== null || toast.later !== null;
  return html`<div class="toast ${does ? 'does' : ''}"><span role="status" data-testid="toast">${toast.words}</span>
    ${toast.later === null ? nothing : html`<button type="button" data-testid="toast-later" @click=${() => actions.correct.lookAgain(toast.later as number)}>Look again at later turns</button>`}
    ${toast.change === null ? nothing : html`<button type="button" data-testid="toast-undo" @click=${() => actions.correct.undo(toast.change as number)}>Undo</button>`}
    ${does ? html`<button type="button" class="toast-close" aria-label="Dismiss" @click=${() => actions.dismissToast()}>${icon('close', 14)}</button>` : nothing}</div>`;
}
