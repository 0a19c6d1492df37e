/** *Evidence*: facts and records by slot, and one slot's values through time. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { leafOf } from '../shell/leaf';
import { count, dayName } from '../shell/time';
import type { AppState, Loaded } from '../state';
import type { Item, StateRow } from '../types';
import { lead, wordDiff } from './diff';
import { whatIsMissing } from './missing';

const PAGE = 200;
const KINDS: Record<Item['kind'], string> = { fact: 'Facts', mutable_state: 'Current values', event: 'Events', artifact: 'Lists and things made' };

/** "kitchen:budget" and "kitchen_budget" as a person would write them. */
export function slotName(item: Pick<Item, 'slot' | 'attribute_tag' | 'text'>): string {
  const raw = item.slot || item.attribute_tag;
  if (!raw) return item.text;
  const words = raw.replace(/[_|:/.]+/g, ' ').replace(/\s+/g, ' ').trim();
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

const turnLink = (id: number, state: AppState, actions: Actions): TemplateResult | typeof nothing => {
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

const STATUS: Record<Item['status'], string> = { current: 'holds now', superseded: 'replaced', retracted: 'taken back', quarantined: 'set aside' };

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

function valueView(item: Item, above: Item | undefined, state: AppState, actions: Actions): TemplateResult {
  const zone = state.forest?.time_zone ?? 'UTC';
  const runs = above ? wordDiff(above.text, item.text) : [];
  const text = above
    ? runs.map((run) => {
        if (run.change === 'same') return run.text;
        const [blank, changed] = lead(run.text);
        return html`${blank}${run.change === 'gone' ? html`<del>${changed}</del>` : html`<ins>${changed}</ins>`}`;
      })
    : item.text;
  const words = verdict(item);
  return html`<li class="value ${item.status}" data-testid="revision" data-status=${item.status} aria-current=${item.status === 'current' ? 'true' : 'false'}>
    <p class="value-text" dir="auto">${text}</p>
    <div class="value-meta"><span class="tag ${item.status === 'current' ? 'moss' : ''}">${STATUS[item.status]}</span>
      ${item.valid_from ? html`<span>${spanWords(item, zone)}</span>` : nothing}${words ? html`<span>${words}</span>` : nothing}${turnLink(item.state, state, actions)}</div>
    ${item.evidence && item.evidence !== item.text ? html`<blockquote dir="auto">“${item.evidence}”</blockquote>` : nothing}
  </li>`;
}

/** Order in which values held: by the time they speak of, then by when they were said. */
export const inOrder = (items: Item[]): Item[] =>
  [...items].sort((a, b) => (a.valid_from ?? '').localeCompare(b.valid_from ?? '') || a.position - b.position || a.id - b.id);

function history(state: AppState, actions: Actions): TemplateResult {
  const loaded = state.history;
  const back = html`<button type="button" class="text-link back" @click=${() => actions.closeSlot()}>${icon('left', 13)}All evidence</button>`;
  if (loaded.status !== 'here') return html`${back}${whatIsMissing(loaded)}`;
  const items = inOrder(loaded.value);
  const last = items.findLast((item) => item.status === 'current') ?? items.at(-1);
  if (!last) return html`${back}<p class="empty">This value isn’t here any more.</p>`;
  const tree = state.trees.get(state.states.get(last.state)?.root ?? -1);
  return html`${back}${crumbOf(state.states.get(last.state), state, actions)}
    <h2 class="turn-title" dir="auto">${slotName(last)}</h2>
    <p class="meta">${items.length === 1 ? 'One value' : `${count(items.length, 'value')}, oldest on top`}</p>
    <ol class="timeline tint-${tree ? (tree.order % 12) + 1 : 1}" data-testid="timeline">${items.map((item, i) => valueView(item, items[i - 1], state, actions))}</ol>
    ${last.entities.length ? html`<section class="block"><h3>Names in it</h3><div class="tags">${last.entities.map((name) => html`<span class="tag">${name}</span>`)}</div></section>` : nothing}`;
}

function groupView(group: Item[], state: AppState, actions: Actions): TemplateResult {
  const top = group.findLast((item) => item.status === 'current') ?? group.at(-1)!;
  const row = state.states.get(top.state);
  const older = group.length - 1;
  return html`<li><button type="button" class="fact ${top.status}" data-testid="fact" data-id=${top.id} data-kind=${top.kind} @click=${() => actions.openSlot(top)}>
    ${leafOf(row ? state.trees.get(row.root) : undefined)}
    <span class="fact-body"><span dir="auto">${top.text}</span>
      <span class="fact-meta">${top.slot || top.attribute_tag ? html`<span>${slotName(top)}</span>` : nothing}
        ${top.status === 'current' ? nothing : html`<span class="tag">${STATUS[top.status]}</span>`}
        ${older > 0 ? html`<span class="tag">${count(older, 'earlier value')}</span>` : top.supersedes.length ? html`<span class="tag">has earlier values</span>` : nothing}${row ? html`<span>turn ${row.position}</span>` : nothing}</span></span>
  </button></li>`;
}

function list(loaded: Loaded<Item[]>, state: AppState, actions: Actions): TemplateResult {
  if (loaded.status !== 'here') return whatIsMissing(loaded);
  const all = state.evidenceScope === 'all' || state.selected === null;
  if (!loaded.value.length) {
    const pending = state.selected !== null && state.states.get(state.selected)?.pending;
    return html`<p class="empty">${pending ? 'Still being read. Facts appear here in a moment.' : all ? 'No facts yet. They appear here as you talk.' : 'This turn gave no facts.'}</p>`;
  }
  return html`${(Object.keys(KINDS) as Item['kind'][]).map((kind) => {
    const groups = bySlot(loaded.value.filter((item) => item.kind === kind));
    return groups.length ? html`<section class="block"><h3>${KINDS[kind]}</h3><ul class="fact-list">${groups.map((group) => groupView(group, state, actions))}</ul></section>` : nothing;
  })}${loaded.value.length >= PAGE ? html`<p class="second cut">The first ${PAGE} of each are listed. The search finds the rest.</p>` : nothing}`;
}

export function evidenceView(state: AppState, actions: Actions): TemplateResult {
  if (state.slot) return history(state, actions);
  const row = state.selected === null ? undefined : state.states.get(state.selected);
  const scope = row ? state.evidenceScope : 'all';
  const choice = (value: 'turn' | 'all', label: string) => html`<button type="button" aria-pressed=${scope === value} @click=${() => actions.scope(value)}>${label}</button>`;
  return html`${row
    ? html`${scope === 'turn' ? crumbOf(row, state, actions) : nothing}
      <div class="segments small" role="group" aria-label="Evidence of">${choice('turn', 'From this turn')}${choice('all', 'Whole forest')}</div>`
    : html`<h2 class="turn-title">What is remembered</h2>`}
    ${list(state.evidence, state, actions)}`;
}
