/** The text of a turn, edited in its place. Sent, it becomes a turn of its own beside the first one. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from '../actions';
import type { AppState } from '../state';
import { isNear, sizeWords, utf8Bytes } from './bytes';
import { grow } from './composer';
import type { ChatTurn } from './turns';

/** The turn being edited. `begun` is the text the field began with: a change kept from before, or the turn's own. */
export interface Editing {
  turn: number;
  begun: string;
  text: string;
}

const DEFAULT_LIMIT = 32_768;

/** Why this text can't be sent, in words; empty when it can. */
export function hindrance(text: string, original: string, limit: number): string {
  const bytes = utf8Bytes(text);
  if (bytes > limit) return sizeWords(bytes, limit);
  return text.trim() === '' || text.trim() === original.trim() ? 'Nothing is changed yet.' : '';
}

/** A new field gets the focus, its end in view, as high as its text. */
function begin(element: Element | undefined): void {
  const field = element as HTMLTextAreaElement | undefined;
  if (!field) return;
  requestAnimationFrame(() => {
    if (!field.isConnected || document.activeElement === field) return;
    grow(field);
    field.focus({ preventScroll: true });
    field.setSelectionRange(field.value.length, field.value.length);
    field.closest('.editor')!.scrollIntoView({ block: 'nearest' });
  });
}

export function editor(turn: ChatTurn, editing: Editing, state: AppState, actions: Actions): TemplateResult {
  const limit = state.me?.max_turn_bytes ?? DEFAULT_LIMIT;
  const bytes = utf8Bytes(editing.text);
  const hindered = hindrance(editing.text, turn.text, limit) !== '';
  const kept = editing.begun !== turn.text;
  return html`<form class="editor" data-testid="editor" @submit=${(event: Event) => { event.preventDefault(); actions.sendEdit(); }}>
    <label class="hidden" for="edit-${editing.turn}">Edit this message</label>
    <textarea id="edit-${editing.turn}" data-testid="edit-text" rows="1" dir="auto" .value=${editing.begun} ${ref(begin)}
      aria-describedby="edit-hint-${editing.turn}" aria-invalid=${bytes > limit}
      @input=${(event: Event) => { const field = event.currentTarget as HTMLTextAreaElement; actions.editDraft(field.value); grow(field); }}
      @keydown=${(event: KeyboardEvent) => {
        // 229: the key that ends a composition in browsers that have ended it by then.
        if (event.isComposing || event.keyCode === 229) return;
        if (event.key === 'Escape') {
          event.preventDefault();
          actions.cancelEdit();
        }
        if (event.key !== 'Enter' || event.shiftKey) return;
        event.preventDefault();
        actions.sendEdit();
      }}></textarea>
    <p class="size ${bytes > limit ? 'over' : ''}" aria-live="polite">${isNear(bytes, limit) ? sizeWords(bytes, limit) : nothing}</p>
    <div class="editor-foot">
      <p class="second" id="edit-hint-${editing.turn}">${kept
        ? html`Your change from before. <button type="button" class="text-link" data-testid="edit-original" @click=${() => actions.editOriginal()}>Take the original text</button>`
        : 'This one stays as it is.'}</p>
      <button type="button" class="button small" data-testid="edit-cancel" @click=${() => actions.cancelEdit()}>Cancel</button>
      <button type="submit" class="button small primary" data-testid="edit-send" ?disabled=${hindered}>Send</button>
    </div></form>`;
}
