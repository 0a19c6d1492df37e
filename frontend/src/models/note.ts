/** That no model is connected, in one line above the message field; put away, a word beside it stays. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import type { AppState } from '../state';

const isOffline = (state: AppState): boolean => state.me?.model === 'offline';

export function offlineNote(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (!isOffline(state) || state.models.noteClosed) return nothing;
  return html`<div class="note sun line offline" role="note" data-testid="offline">${icon('info', 16)}
    <p>Answers are made offline<span class="roomy">: they quote what you said</span>.
      <button type="button" class="text-link" data-testid="connect-model" @click=${() => actions.models.open()}>${state.me?.is_staff ? 'Connect a model' : 'What that means'}</button></p>
    <button type="button" class="icon-button" aria-label="Dismiss" data-testid="offline-close" @click=${() => actions.models.closeNote()}>${icon('close', 15)}</button></div>`;
}

export const offlineWord = (state: AppState, actions: Actions): TemplateResult | typeof nothing =>
  isOffline(state) && state.models.noteClosed
    ? html`<button type="button" class="pill quiet" data-testid="offline-word" aria-label="Answers are made offline: about the models" @click=${() => actions.models.open()}><span>Offline</span></button>`
    : nothing;
