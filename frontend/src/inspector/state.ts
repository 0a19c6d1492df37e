/** *State*: one turn as it was said, what was made of it, and where it was used since. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { prose } from '../chat/chat';
import { longTime, shortTime } from '../shell/time';
import { shownState, type AppState } from '../state';
import type { Item, MoveRecord, StateDetail } from '../types';
import { crumbOf } from './evidence';
import { whatIsMissing } from './missing';

const ORIGINS: Record<string, string> = { observed: 'Brought in as it happened', imported: 'Imported' };

const items = (title: string, list: Item[], actions: Actions): TemplateResult | typeof nothing =>
  list.length
    ? html`<section class="block"><h3>${title}</h3><ul class="fact-list">${list.map((item) => html`<li>
        <button type="button" class="fact ${item.status}" @click=${() => actions.openSlot(item)}><span class="fact-body"><span dir="auto">${item.text}</span>
          ${item.status === 'superseded' ? html`<span class="fact-meta"><span class="tag">replaced</span></span>` : nothing}</span></button></li>`)}</ul></section>`
    : nothing;

const summary = (title: string, text: string): TemplateResult | typeof nothing =>
  text ? html`<section class="block"><h3>${title}</h3><p class="summary" dir="auto">${text}</p></section>` : nothing;

const named = (place: MoveRecord['from']): TemplateResult | string => (place ? html`“<bdi>${place.label}</bdi>”` : 'a topic of its own');

/** Where it was before, newest first, and the way back. */
function movesView(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const loaded = state.correcting.moves;
  if (loaded.status !== 'here' || !loaded.value.length) return nothing;
  const zone = state.forest?.time_zone ?? 'UTC';
  return html`<section class="block"><h3>Moves</h3><ul class="moves" data-testid="moves">${loaded.value.map((one) => html`<li class=${one.undone ? 'undone' : ''}>
    <p>From ${named(one.from)} to ${named(one.to)}</p>
    <div class="item-meta"><span>by ${one.by ?? 'someone'}, ${shortTime(one.at, zone)}</span>${one.undone
      ? html`<span class="tag">undone</span>`
      : one.change === null ? nothing : html`<button type="button" class="text-link" data-testid="undo-move" @click=${() => actions.correct.undo(one.change as number)}>Undo</button>`}</div></li>`)}</ul></section>`;
}

export function stateView(state: AppState, actions: Actions): TemplateResult {
  if (shownState(state) === null) return html`<p class="empty">Choose a turn in the forest to see what was said there and what was kept of it.</p>`;
  const loaded = state.detail;
  if (loaded.status !== 'here') return whatIsMissing(loaded);
  const detail: StateDetail = loaded.value;
  const zone = state.forest?.time_zone ?? 'UTC';
  return html`${crumbOf(state.states.get(detail.id), state, actions)}
    <h2 class="turn-title" dir="auto" data-testid="state-title" data-state=${detail.id}>${detail.label}</h2>
    <p class="meta">Turn ${detail.position}, ${longTime(detail.time, zone)}${ORIGINS[detail.origin] ? `. ${ORIGINS[detail.origin]}.` : ''}</p>
    <div class="said"><div class="bubble" dir="auto">${detail.user}</div>${detail.assistant ? prose(detail.assistant) : nothing}</div>
    ${detail.refined_at === null ? html`<p class="note sun line">Still being read. Its summary and facts appear in a moment.</p>` : nothing}
    ${items('Facts it gave', detail.facts, actions)}
    ${items('Lists, events and values it gave', detail.records, actions)}
    ${summary('This turn in short', detail.node_summary)}
    ${summary('The path up to here', detail.path_summary)}
    ${detail.entities.length ? html`<section class="block"><h3>Names in it</h3><div class="tags">${detail.entities.map((name) => html`<span class="tag">${name}</span>`)}</div></section>` : nothing}
    ${movesView(state, actions)}
    ${detail.used_by.length
      ? html`<section class="block"><h3>Answers that used it</h3><ul class="used">${detail.used_by.map((use) => html`<li>
          <button type="button" class="text-row" @click=${() => actions.select(use.state, { center: true })}><span dir="auto">${use.label}</span>
            <span class="second">turn ${state.states.get(use.state)?.position ?? ''}</span></button></li>`)}</ul></section>`
      : nothing}`;
}
