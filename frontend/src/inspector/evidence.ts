/** *Evidence*: facts and records by slot, and one slot's values through time. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { leafOf } from '../shell/leaf';
import { count } from '../shell/time';
import type { AppState, Loaded } from '../state';
import type { Item, StateRow } from '../types';
import { whatIsMissing } from './missing';
import { history } from './slot';

const PAGE = 200;
const KINDS: Record<Item['kind'], string> = { fact: 'Facts', mutable_state: 'Current values', event: 'Events', artifact: 'Lists and things made' };

/** "kitchen:budget" and "kitchen_budget" as a person would write them. */
export function slotName(item: Pick<Item, 'slot' | 'attribute_tag' | 'text'>): string {
  const raw = item.slot || item.attribute_tag;
  if (!raw) return item.text;
  const words = raw.replace(/[_|:/.]+/g, ' ').replace(/\s+/g, ' ').trim().replace(/\b(\S+)(?: \1\b)+/gu, '$1');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Items with the same kind and slot together, in order of first appearance; what has no slot stands alone. */
export function bySlot(items: Item[]): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = item.slot ? `${item.kind}|${item.slot}` : `${item.kind}|#${item.id}`;
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()];
}

export const turnLink = (id: number, state: AppState, actions: Actions): TemplateResult | typeof nothing => {
  const row = state.states.get(id);
  return row ? html`<button type="button" class="text-link" @click=${() => actions.select(row.id, { center: true })}>turn ${row.position}</button>` : nothing;
};

export function crumbOf(row: StateRow | undefined, state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (!row) return nothing;
  const tree = state.trees.get(row.root);
  return html`<div class="crumb">${leafOf(tree)}<span class="crumb-path">
    <button type="button" class="crumb-part tree" @click=${() => actions.select(row.root, { center: true })}>${tree?.topic ?? ''}</button>
    ${row.id === row.root ? nothing : html`${icon('right', 12)}<button type="button" class="crumb-part" @click=${() => actions.select(row.id, { center: true })}>${row.label}</button>`}</span></div>`;
}

export const STATUS: Record<Item['status'], string> = { current: 'holds now', superseded: 'replaced', retracted: 'taken back', quarantined: 'set aside' };

function groupView(group: Item[], state: AppState, actions: Actions): TemplateResult {
  const top = group.findLast((item) => item.status === 'current') ?? group.at(-1)!;
  const row = state.states.get(top.state);
  const older = group.length - 1;
  return html`<li><button type="button" class="fact ${top.status}" data-testid="fact" data-id=${top.id} data-kind=${top.kind} @click=${() => actions.openSlot(top)}>
    ${leafOf(row ? state.trees.get(row.root) : undefined)}
    <span class="fact-body"><span dir="auto">${top.text}</span>
      <span class="fact-meta">${top.slot || top.attribute_tag ? html`<span>${slotName(top)}</span>` : nothing}
        ${top.status === 'current' ? nothing : html`<span class="tag">${STATUS[top.status]}</span>`}${top.pinned ? html`<span class="tag">pinned</span>` : nothing}
        ${older > 0 ? html`<span class="tag">${count(older, 'earlier value')}</span>` : top.supersedes.length ? html`<span class="tag">has earlier values</span>` : nothing}${row ? html`<span>turn ${row.position}</span>` : nothing}</span></span>
  </button></li>`;
}

function list(loaded: Loaded<Item[]>, state: AppState, actions: Actions): TemplateResult {
  if (loaded.status !== 'here') return whatIsMissing(loaded);
  const all = state.evidenceScope === 'all' || state.selected === null;
  if (!loaded.value.length) {
    const row = state.selected === null ? undefined : state.states.get(state.selected);
    if (!all && row && state.asOf !== null && row.position > state.asOf) return html`<p class="empty">This turn came later than that.</p>`;
    const pending = row?.pending;
    return html`<p class="empty">${pending ? 'Still being read. Facts appear here in a moment.' : all ? 'No facts yet. They appear here as you talk.' : 'This turn gave no facts.'}</p>`;
  }
  return html`${(Object.keys(KINDS) as Item['kind'][]).map((kind) => {
    const groups = bySlot(loaded.value.filter((item) => item.kind === kind));
    return groups.length ? html`<section class="block"><h3>${KINDS[kind]}</h3><ul class="fact-list">${groups.map((group) => groupView(group, state, actions))}</ul></section>` : nothing;
  })}${loaded.value.length >= PAGE ? html`<p class="second cut">The first ${PAGE} of each are listed. The search finds the rest.</p>` : nothing}`;
}

/** The evidence is that of another moment: said first, with the way back. */
export const asOfNote = (state: AppState, actions: Actions): TemplateResult => {
  const row = [...state.states.values()].findLast((one) => one.position <= (state.asOf ?? 0));
  return html`<div class="note sun line as-of" data-testid="as-of-note">${icon('clock', 16)}<p>${row ? `As it was known after turn ${row.position}.` : 'As it was before the first turn.'}</p>
    <button type="button" class="text-link" @click=${() => actions.travel(false)}>Back to now</button></div>`;
};

export function evidenceView(state: AppState, actions: Actions): TemplateResult {
  if (state.slot) return history(state, actions);
  const row = state.selected === null ? undefined : state.states.get(state.selected);
  const scope = row ? state.evidenceScope : 'all';
  const choice = (value: 'turn' | 'all', label: string) => html`<button type="button" aria-pressed=${scope === value} @click=${() => actions.scope(value)}>${label}</button>`;
  return html`${state.asOf === null ? nothing : asOfNote(state, actions)}${row
    ? html`${scope === 'turn' ? crumbOf(row, state, actions) : nothing}
      <div class="segments small" role="group" aria-label="Evidence of">${choice('turn', 'From this turn')}${choice('all', 'Whole forest')}</div>`
    : html`<h2 class="turn-title">What is remembered</h2>`}
    ${list(state.evidence, state, actions)}`;
}
