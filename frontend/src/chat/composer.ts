/** Where a turn is written: text, where it will go, send or stop. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { offlineNote, offlineWord } from '../models/note';
import { modelPicker } from '../models/picker';
import { leafOf } from '../shell/leaf';
import { menu, type MenuItem } from '../shell/menu';
import type { AppState, Place } from '../state';
import type { StateRow } from '../types';
import { isNear, sizeWords } from './bytes';
import { OPEN } from './turns';

const DEFAULT_LIMIT = 32_768;

/** The branch that "this branch" means: the last answered turn's. */
export const branchTip = (state: AppState): StateRow | undefined => (state.active === null ? undefined : state.states.get(state.active));

const named = (row: StateRow, state: AppState): string => {
  const topic = state.trees.get(row.root)?.topic;
  return topic && topic !== row.label ? `${topic}, ${row.label}` : row.label;
};

function placeMenu(state: AppState, actions: Actions): TemplateResult {
  const { place } = state;
  const tip = branchTip(state);
  const chosen = place.kind === 'state' ? state.states.get(place.state) : state.selected === null ? undefined : state.states.get(state.selected);
  const tree = (row: StateRow | undefined) => leafOf(row ? state.trees.get(row.root) : undefined);
  const item = (label: string, hint: string, to: Place, checked: boolean): MenuItem => ({ label, hint, checked, run: () => actions.place(to) });
  const items = [
    item('Finds its own place', 'The forest decides where it belongs', { kind: 'auto' }, place.kind === 'auto'),
    ...(tip ? [item('This branch', `After ${named(tip, state)}`, { kind: 'branch' }, place.kind === 'branch')] : []),
    ...(chosen && chosen.id !== tip?.id ? [item('After the selected turn', named(chosen, state), { kind: 'state', state: chosen.id }, place.kind === 'state')] : []),
    item('New topic', 'Plants a tree of its own', { kind: 'new' }, place.kind === 'new'),
  ];
  const [leading, words] = {
    auto: [icon('pin', 14), 'Finds its own place'] as const,
    branch: [tree(tip), 'This branch'] as const,
    state: [tree(chosen), `After ${chosen?.label ?? 'a turn'}`] as const,
    new: [icon('plus', 14), 'New topic'] as const,
  }[place.kind];
  return menu({
    name: 'place', open: state.menu, toggle: actions.menu, label: `${words}: where the next turn goes`, class: `pill ${place.kind === 'auto' ? '' : 'set'}`, up: true,
    face: html`${leading}<span>${words}</span>${icon('chevron', 14)}`, groups: [{ items }],
  });
}

export function composer(state: AppState, actions: Actions, area: (element: Element | undefined) => void): TemplateResult {
  const limit = state.me?.max_turn_bytes ?? DEFAULT_LIMIT;
  const over = state.draftBytes > limit;
  const open = state.turns.filter((turn) => turn.id !== null && OPEN.has(turn.status));
  const running = open.find((turn) => turn.status !== 'queued') ?? open.at(-1);
  const stops = running !== undefined && state.draftEmpty;
  const placeholder = state.turns.length || state.forest ? (state.turns.length ? 'Write, or paste something to remember' : 'What is on your mind?') : 'What is on your mind?';
  const submit = (form: HTMLFormElement) => {
    const text = form.querySelector('textarea')!;
    if (actions.send(text.value)) text.value = '';
    grow(text);
  };
  return html`<form class="composer" data-testid="composer" @submit=${(event: Event) => { event.preventDefault(); submit(event.currentTarget as HTMLFormElement); }}>
    <label class="hidden" for="message">Message</label>
    <textarea id="message" data-testid="message" rows="1" dir="auto" placeholder=${placeholder} ${ref(area)}
      aria-describedby="size" aria-invalid=${over}
      @input=${(event: Event) => { const text = event.currentTarget as HTMLTextAreaElement; actions.draft(text.value); grow(text); }}
      @keydown=${(event: KeyboardEvent) => {
        if (event.isComposing) return;
        if (event.key === 'Escape' && stops) actions.cancel(running.id as number);
        if (event.key !== 'Enter' || event.shiftKey) return;
        event.preventDefault();
        submit((event.currentTarget as HTMLElement).closest('form')!);
      }}></textarea>
    <p id="size" class="size ${over ? 'over' : ''}" aria-live="polite">${isNear(state.draftBytes, limit) ? sizeWords(state.draftBytes, limit) : nothing}</p>
    <div class="composer-foot">
      ${placeMenu(state, actions)}${modelPicker(state, actions)}${offlineWord(state, actions)}
      ${stops
        ? html`<button type="button" class="disc" aria-label="Stop the answer" data-testid="stop" @click=${() => actions.cancel(running.id as number)}><span>${icon('stop', 18)}</span></button>`
        : html`<button type="submit" class="disc" aria-label="Send" data-testid="send" ?disabled=${state.draftEmpty || over}><span>${icon('send', 18)}</span></button>`}
    </div></form>`;
}

/** The field is as high as its text; style sheets cap it. */
export function grow(text: HTMLTextAreaElement): void {
  text.style.setProperty('height', 'auto');
  text.style.setProperty('height', `${text.scrollHeight}px`);
}

export function banners(state: AppState, actions: Actions): TemplateResult {
  return html`
    ${state.notice
      ? html`<div class="note clay" role="alert" data-testid="notice">${icon('warn', 18)}<div><p><b>${state.notice.message}</b> ${state.notice.action}</p></div>
          <button type="button" class="icon-button" aria-label="Dismiss" @click=${() => actions.dismissNotice()}>${icon('close', 15)}</button></div>`
      : nothing}
    ${state.connection === 'lost'
      ? html`<div class="note sun line" role="status" data-testid="reconnecting">${icon('info', 16)}<p>Reconnecting. Your draft is kept.</p></div>`
      : nothing}
    ${offlineNote(state, actions)}`;
}
