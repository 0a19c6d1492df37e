/** One slot's values through time, and what can be done with each of them. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { menu, type MenuItem } from '../shell/menu';
import { count, dayName } from '../shell/time';
import type { AppState } from '../state';
import type { Item } from '../types';
import { diffView } from './diff-view';
import { asOfNote, crumbOf, slotName, STATUS, turnLink } from './evidence';
import { whatIsMissing } from './missing';

function spanWords(item: Item, zone: string): string {
  if (!item.valid_from) return '';
  const from = dayName(item.valid_from, zone);
  if (item.valid_to) return `${from} to ${dayName(item.valid_to, zone)}`;
  return item.status === 'current' ? `since ${from}` : `from ${from}`;
}

/** The verdict that brought this value, in words. */
function verdict(item: Item): string {
  const revision = item.revisions.find(({ new: fresh }) => fresh?.id === item.id && fresh.kind === item.kind);
  if (!revision) return '';
  if (revision.by === 'user') return revision.verdict === 'restored' ? 'restored by you' : 'edited by you';
  const words = { superseded: 'same thing, other value', coexist: 'close by, and both hold', retracted: 'taken back', restored: 'holds again', edited: 'edited' }[revision.verdict];
  return `${words}, found by ${revision.by === 'model' ? 'the model' : 'a rule'}`;
}

/** When it left memory's present. When it came is what its turn says. */
const knownWords = (item: Item): string => (item.known_until === null || item.known_until <= item.known_from ? '' : `known until turn ${item.known_until}`);

const entry = (label: string, name: string, run: () => void, clay = false): MenuItem => ({ label, leading: icon(name, 15), clay, run });

const deleting = (item: Item, actions: Actions): MenuItem => entry('Delete…', 'trash', () => actions.forget.open({ kind: item.kind, id: item.id, text: item.text }), true);

/** What can be done with a value, by what it is now. */
function deeds(item: Item, actions: Actions): MenuItem[][] {
  const revise = (label: string, name: string, what: Parameters<Actions['correct']['revise']>[1]) => entry(label, name, () => actions.correct.revise(item, what));
  const usual = item.status === 'current'
    ? [
        entry('Change the wording…', 'edit', () => actions.correct.reword(item)),
        revise(item.pinned ? 'Unpin' : 'Pin: always shown to the model', 'pin', item.pinned ? 'unpin' : 'pin'),
        revise('Take back: it was never so', 'undo', 'retract'), revise('Set aside: keep it, don’t use it', 'stop', 'quarantine'),
      ]
    : [revise('Restore: it holds again', 'retry', 'restore')];
  return [usual, [deleting(item, actions)]];
}

function valueView(item: Item, above: Item | undefined, state: AppState, actions: Actions): TemplateResult {
  const zone = state.forest?.time_zone ?? 'UTC';
  const words = verdict(item);
  const dated = dateWords(item);
  return html`<li class="value ${item.status}" data-testid="revision" data-id=${item.id} data-status=${item.status} aria-current=${item.status === 'current' ? 'true' : 'false'}>
    <p class="value-text" dir="auto">${above ? diffView(above.text, item.text) : item.text}</p>
    <div class="value-meta"><span class="tag ${item.status === 'current' ? 'moss' : ''}">${STATUS[item.status]}</span>${item.pinned ? html`<span class="tag">pinned</span>` : nothing}
      ${item.valid_from ? html`<span>${spanWords(item, zone)}</span>` : nothing}${words ? html`<span>${words}</span>` : nothing}${turnLink(item.state, state, actions)}
      ${dated ? html`<span>${dated}</span>` : nothing}${knownWords(item) ? html`<span>${knownWords(item)}</span>` : nothing}</div>
    ${item.evidence && item.evidence !== item.text ? html`<blockquote dir="auto">“${item.evidence}”</blockquote>` : nothing}
    ${state.asOf === null
      ? menu({ name: `value-${item.kind}${item.id}`, open: state.menu, toggle: actions.menu, label: `What to do with “${item.text}”`, class: 'icon-button value-more', face: icon('more', 16), right: true,
          groups: deeds(item, actions).map((items) => ({ items })) })
      : nothing}
  </li>`;
}

/** The words in which a date was given. */
const dateWords = (item: Item): string => (typeof item.fields?.['date_text'] === 'string' && item.fields['date_text'] ? `said as “${item.fields['date_text']}”` : '');

/** Order in which values held: by the time they speak of, then by when they were said. */
export const inOrder = (items: Item[]): Item[] =>
  [...items].sort((a, b) => (a.valid_from ?? '').localeCompare(b.valid_from ?? '') || a.position - b.position || a.id - b.id);

/** All values of a slot, oldest on top. */
export function history(state: AppState, actions: Actions): TemplateResult {
  const loaded = state.history;
  const back = html`<button type="button" class="text-link back" @click=${() => actions.closeSlot()}>${icon('left', 13)}All evidence</button>`;
  if (loaded.status !== 'here') return html`${back}${whatIsMissing(loaded)}`;
  const items = inOrder(loaded.value);
  const last = items.findLast((item) => item.status === 'current') ?? items.at(-1);
  if (!last) return html`${back}${state.asOf === null ? html`<p class="empty">This value isn’t here any more.</p>` : html`${asOfNote(state, actions)}<p class="empty">Nothing was known of it then.</p>`}`;
  const tree = state.trees.get(state.states.get(last.state)?.root ?? -1);
  return html`${back}${state.asOf === null ? nothing : asOfNote(state, actions)}${crumbOf(state.states.get(last.state), state, actions)}
    <h2 class="turn-title" dir="auto">${slotName(last)}</h2>
    <p class="meta">${items.length === 1 ? 'One value' : `${count(items.length, 'value')}, oldest on top`}</p>
    <ol class="timeline tint-${tree ? (tree.order % 12) + 1 : 1}" data-testid="timeline">${items.map((item, i) => valueView(item, items[i - 1], state, actions))}</ol>
    ${beside(items, state, actions)}
    ${usesView(state, actions)}
    ${last.entities.length ? html`<section class="block"><h3>Names in it</h3><div class="tags">${last.entities.map((name) => html`<span class="tag">${name}</span>`)}</div></section>` : nothing}`;
}

/** Other values close by that hold as well. */
function beside(items: Item[], state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const own = new Set(items.map((item) => `${item.kind}${item.id}`));
  const ends = items.flatMap((item) => item.revisions.filter((one) => one.verdict === 'coexist').flatMap((one) => [one.old, one.new]));
  const others = new Map(ends.flatMap((end) => (end && !own.has(`${end.kind}${end.id}`) ? [[`${end.kind}${end.id}`, end] as const] : [])));
  if (!others.size) return nothing;
  return html`<section class="block"><h3>Close by, and both hold</h3><ul class="used">${[...others.values()].map((end) => html`<li>
    <button type="button" class="text-row" @click=${() => actions.inspectItem(end.kind, end.id, state.selected)}><span dir="auto">${end.text}</span></button></li>`)}</ul></section>`;
}

/** Later answers that were given it. */
function usesView(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (state.uses.status !== 'here' || !state.uses.value.list.length) return nothing;
  const { list, count: all } = state.uses.value;
  return html`<section class="block"><h3>Answers that used it</h3><ul class="used" data-testid="uses">${list.map((use) => html`<li>
    <button type="button" class="text-row" @click=${() => actions.select(use.state, { center: true })}><span dir="auto">${use.label}</span><span class="second">turn ${state.states.get(use.state)?.position ?? ''}</span></button></li>`)}</ul>
    ${all > list.length ? html`<p class="second">and ${(all - list.length).toLocaleString('en')} more</p>` : nothing}</section>`;
}

/** The actions of the value that holds, always in view. */
export function footOfValue(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (state.history.status !== 'here' || state.asOf !== null) return nothing;
  const items = inOrder(state.history.value);
  const now = items.findLast((item) => item.status === 'current');
  const earlier = items.filter((item) => item !== now && item.status !== 'current');
  const last = now ?? items.at(-1);
  if (!last) return nothing;
  return html`<footer class="inspector-foot">
    ${now ? html`<button type="button" class="button" data-testid="edit-value" @click=${() => actions.correct.reword(now)}>${icon('edit', 16)}Edit</button>` : nothing}
    ${earlier.length
      ? menu({ name: 'restore', open: state.menu, toggle: actions.menu, label: 'Restore an earlier value', class: 'button', face: html`Restore an earlier value`, up: true,
          groups: [{ items: earlier.map((item) => ({ label: item.text, hint: `${STATUS[item.status]}, turn ${item.position}`, run: () => actions.correct.revise(item, 'restore') })) }] })
      : nothing}
    ${now ? html`<button type="button" class="button" data-testid="pin-value" aria-pressed=${now.pinned} @click=${() => actions.correct.revise(now, now.pinned ? 'unpin' : 'pin')}>${icon('pin', 16)}${now.pinned ? 'Unpin' : 'Pin'}</button>` : nothing}
    ${now
      ? menu({ name: 'value-more', open: state.menu, toggle: actions.menu, label: 'More to do with this value', class: 'button square', face: icon('more', 16), up: true, right: true, groups: deeds(now, actions).map((list) => ({ items: list })) })
      : nothing}</footer>`;
}
