/** The forest drawing and the store: what changes here is handed to the drawing at once, what is done there comes back as actions. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { api } from '../api';
import type { ForestDrawing } from '../conversation';
import type { ChatTurn } from '../chat/turns';
import { targetsOf } from '../correcting/correcting';
import { passing, strength, type Filter } from '../filtering/filtering';
import { filterButton } from '../filtering/popover';
import type { HoverMore } from '../forest/card';
import { rangeWords, type DayRange } from '../forest/days';
import type { Camera } from '../forest/types';
import { ForestView } from '../forest/view';
import { icon } from '../icons';
import { pathTo, type AppState } from '../state';
import type { Store } from '../store';
import { leafOf } from './leaf';
import { searchField } from './search';
import { count, percent } from './time';

/** The turn whose path is lit: the one under way, else the one looked at. */
const UNDER_WAY = new Set(['localized', 'answering']);

export class ForestPanel implements ForestDrawing {
  readonly view: ForestView;
  private readonly cards = new Map<number, { mark: boolean | undefined; more: HoverMore }>();

  constructor(private readonly store: Store<AppState>, container: HTMLElement, actions: Actions, cameraMoved: () => void) {
    this.view = new ForestView(container, {
      select: (id) => actions.select(id), zoomChanged: cameraMoved,
      openFold: () => requestAnimationFrame(() => store.set({ folds: this.view.foldedCount() })),
      hover: (id) => (id === null ? null : this.cardOf(id)),
      asOf: (position) => actions.asOf(position),
      range: (range, done) => this.brushed(range, done, actions),
      menu: (state, x, y) => actions.stateMenu({ state, x, y }),
      lift: (state) => {
        const { states, correcting } = store.get();
        if (correcting.picking) return null;
        store.set({ carried: state, stateMenu: null });
        return targetsOf(states, { purpose: 'move', state });
      },
      putBack: () => store.set({ carried: null }),
      drop: (state, over, at) => {
        if (over !== null) actions.correct.plan(state, over);
        else if (document.elementFromPoint(at.x, at.y)?.closest('[data-drop="root"]') && store.get().states.get(state)?.parent !== null) actions.correct.plan(state, null);
      },
    });
    this.view.setZone(store.get().forest?.time_zone ?? 'UTC');
    this.view.setRange(store.get().filter);
    Object.defineProperty(container, 'forestView', { value: this.view, enumerable: false, configurable: true });
    store.watch((state) => state.selected, (id) => this.view.setSelection(id));
    store.watch((state) => state.active, (id) => this.view.setActive(id));
    store.watch((state) => state.drawing, (drawing) => this.view.setDrawing(drawing));
    store.watch((state) => state.hits, () => this.find());
    store.watch((state) => state.filter, (filter) => {
      this.view.setRange(filter);
      this.find();
    });
    store.watch((state) => state.forest?.time_zone ?? 'UTC', (zone) => {
      this.view.setZone(zone);
      this.find();
    });
    store.watch((state) => state.states, () => strength(store.get().filter) && this.find());
    store.watch((state) => state.asOf, (position) => this.travel(position));
    store.watch((state) => state.correcting.picking, (picking) => this.view.setPicking(picking && { state: picking.state, targets: targetsOf(store.get().states, picking) }));
    store.watch((state) => this.litOf(state), () => this.light());
    store.watch((state) => this.growingOf(state), () => this.grow());
  }

  added: ForestDrawing['added'] = (row, tree) => this.changed(() => this.view.addState(row, tree));
  updated: ForestDrawing['updated'] = (row, tree) => this.changed(() => this.view.updateState(row, tree));
  removed: ForestDrawing['removed'] = (ids) => {
    for (const id of ids) this.cards.delete(id);
    this.changed(() => this.view.removeStates(ids));
  };

  private changed(work: () => void): void {
    work();
    this.store.set({ folds: this.view.foldedCount() });
  }

  /** What is searched and what is filtered, together; null when nothing is. */
  private found(filter: Filter): Iterable<number> | null {
    const { hits, states, forest } = this.store.get();
    const passed = passing(states.values(), filter, forest?.time_zone ?? 'UTC');
    const found = hits && new Set(hits.map((hit) => hit.state));
    return found && passed ? [...found].filter((id) => passed.has(id)) : found ?? passed;
  }

  private find(): void {
    this.view.setHits(this.found(this.store.get().filter));
    this.store.set({ folds: this.view.foldedCount() });
  }

  /** Days are being chosen on the strip: they are dimmed under the hand, and laid out when it lets go. */
  private brushed(range: DayRange | null, done: boolean, actions: Actions): void {
    const { filter, states, forest } = this.store.get();
    if (!done) return this.view.previewHits(this.found({ ...filter, ...range }));
    if (!range || (range.from === filter.from && range.to === filter.to)) return this.find();
    actions.filter(range);
    const shown = passing(states.values(), { ...filter, ...range }, forest?.time_zone ?? 'UTC');
    if (shown) this.view.show(...shown);
    this.store.set({ announcement: `${rangeWords(range, String(new Date().getFullYear()))}: ${count(shown?.size ?? states.size, 'turn')} shown.` });
  }

  reset(): void {
    this.cards.clear();
    const { states, trees, active, selected } = this.store.get();
    this.view.setStates([...states.values()], [...trees.values()], active);
    this.view.setSelection(selected);
    this.light();
    this.grow();
    this.store.set({ folds: this.view.foldedCount() });
  }

  /** The turn under way, until its state is in the drawing. */
  private current(state: AppState): ChatTurn | null {
    return state.turns.findLast((turn) => UNDER_WAY.has(turn.status) || (turn.status === 'answered' && turn.state !== null && !state.states.has(turn.state))) ?? null;
  }

  private litOf(state: AppState): string {
    const turn = this.current(state);
    if (state.preview !== null) return `preview ${state.preview}`;
    if (turn) return `turn ${turn.id} ${turn.decision?.parent} ${turn.path.length} ${turn.candidates.length}`;
    const rest = state.selected ?? state.turns.at(-1)?.state ?? null;
    return `rest ${rest} ${rest !== null && state.states.has(rest)}`;
  }

  /** In order: what is pointed at, the turn under way, what is selected, the latest answer. */
  private light(): void {
    const state = this.store.get();
    const turn = this.current(state);
    if (state.preview !== null) {
      this.view.setLocalized({ path: pathTo(state.states, state.preview), candidates: [], second: null });
    } else if (turn?.decision) {
      const path = turn.path.length ? turn.path : pathTo(state.states, turn.decision.parent);
      this.view.setLocalized({ path, candidates: turn.candidates, second: turn.second });
    } else {
      const id = state.selected ?? state.turns.at(-1)?.state ?? null;
      const path = pathTo(state.states, id).filter((one) => state.asOf === null || state.states.get(one)!.position <= state.asOf);
      this.view.setLocalized(path.length ? { path, candidates: [], second: null } : null);
    }
  }

  /** The moment that is travelled to is in view, and only paths up to it are lit. */
  private travel(position: number | null): void {
    this.view.setAsOf(position);
    this.light();
    const last = position === null ? undefined : [...this.store.get().states.values()].filter((row) => row.position <= position).at(-1);
    if (last) this.view.show(last.id);
  }

  private growingOf(state: AppState): string {
    const turn = this.current(state);
    return turn?.decision ? `${turn.id} ${turn.decision.parent}` : '';
  }

  private grow(): void {
    const turn = this.current(this.store.get());
    this.view.setGrowing(turn?.decision ? { parent: turn.decision.parent, label: turn.text } : null);
  }

  /** The first lines of the answer and how often it was used, for the card over the drawing. */
  private async cardOf(id: number): Promise<HoverMore | null> {
    const mark = this.store.get().states.get(id)?.pending;
    const known = this.cards.get(id);
    if (known && known.mark === mark) return known.more;
    const detail = await api.state(id);
    const more = { text: (detail.assistant || detail.user).slice(0, 240), used: detail.used_by.length };
    this.cards.set(id, { mark, more });
    return more;
  }

  camera = (): Camera => this.view.getCamera();
}

export const forestHead = (state: AppState, actions: Actions): TemplateResult => html`<header class="panel-head forest-head">
  ${state.folded.chat ? html`<span class="forest-title">${state.forest?.name ?? ''}</span>` : nothing}
  ${searchField(state, actions)}
  <div class="segments" role="group" aria-label="Drawing">
    <button type="button" data-testid="drawing-lanes" aria-pressed=${state.drawing === 'lanes'} @click=${() => actions.drawing('lanes')}>Lanes</button>
    <button type="button" data-testid="drawing-tree" aria-pressed=${state.drawing === 'tree'} @click=${() => actions.drawing('tree')}>Tree</button>
  </div>${filterButton(state, actions)}</header>`;

export function forestFoot(state: AppState, actions: Actions): TemplateResult {
  const lag = state.pending ? `Writing ${state.pending.toLocaleString('en')} to memory` : 'Memory is up to date';
  return html`<footer class="forest-foot">
    <span data-testid="counts">${count(state.states.size, 'state')}, ${count(state.trees.size, 'topic')}${state.folds ? `, ${state.folds.toLocaleString('en')} folded` : ''}</span>
    <button type="button" class="text-link travel-link" data-testid="travel" aria-pressed=${state.travelling} @click=${() => actions.travel(!state.travelling)}>${icon('clock', 14)}${state.travelling ? 'Back to now' : 'Travel in time'}</button>
    <span class="lag ${state.pending ? 'writing' : ''}" data-testid="lag">${lag}</span>
    <button type="button" class="icon-button" aria-label="Fit the whole forest" data-testid="fit" @click=${() => actions.fit()}>${icon('fit', 16)}</button>
  </footer>`;
}

/** On a phone: what is selected, with a way to its details. */
export function peek(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const row = state.selected === null ? undefined : state.states.get(state.selected);
  if (!row || state.correcting.picking || state.travelling) return nothing;
  const tree = state.trees.get(row.root);
  const turn = state.turns.find((known) => UNDER_WAY.has(known.status) && known.decision?.parent === row.id);
  const note = turn?.decision ? `Continued now, ${percent(turn.decision.probability)} sure` : row.pending ? 'Remembering…' : count(row.facts, 'fact');
  return html`<div class="peek" data-testid="peek"><div class="peek-text"><div class="crumb">${leafOf(tree)}<span class="crumb-path"><b class="tree">${tree?.topic ?? ''}</b></span></div>
      <p class="peek-title" dir="auto">${row.label}</p><p class="second">${note}</p></div>
    <button type="button" class="button" @click=${() => { actions.tab('state'); actions.phoneTab('details'); }}>Open</button></div>`;
}
