/** The inspector: four tabs over one turn or state, its actions at the foot. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { markdownOf } from '../api';
import { icon } from '../icons';
import { menu } from '../shell/menu';
import { laterTurn } from '../correcting/correcting';
import { late } from '../shell/late';
import { shownTurn, type AppState, type Tab } from '../state';
import type { StateDetail, Trace } from '../types';
import { hatch } from './bars';
import { evidenceView } from './evidence';
import { whatIsMissing } from './missing';
import { footOfValue } from './slot';
import { stateView } from './state';
import { liveTrace, traceView } from './trace';

const health = late(() => import('./health'));

const TABS: [Tab, string][] = [['why', 'Why here'], ['state', 'State'], ['evidence', 'Evidence'], ['health', 'Health']];
/** Side padding of the panel and the column of leaves, which the bars don't have. */
const NOT_BAR = 48 + 26 + 30;

function onTabKey(event: KeyboardEvent, state: AppState, actions: Actions): void {
  const at = TABS.findIndex(([tab]) => tab === state.tab);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const next = TABS[(to + TABS.length) % TABS.length]!;
  actions.tab(next[0]);
  document.getElementById(`tab-${next[0]}`)?.focus();
}

function why(state: AppState, room: number, actions: Actions): TemplateResult {
  const row = state.selected === null ? undefined : state.states.get(state.selected);
  if (row && row.turn === null && state.inspectedTurn === null) {
    return html`<div class="meta">Turn ${row.position}</div><h2 class="turn-title" dir="auto">${row.label}</h2>
      <p class="why">No decision was kept for this turn: it was brought in, not asked here.</p>`;
  }
  if (state.trace.status === 'here') return traceView(state.trace.value, room, state, actions);
  const turn = shownTurn(state);
  const live = turn && liveTrace(turn, state);
  if (live) return traceView(live, room, state, actions);
  if (state.trace.status === 'failed') return whatIsMissing(state.trace);
  return turn || state.trace.status === 'loading' ? html`` : html`<p class="empty">Every turn finds its place by itself. Here it says why it went there.</p>`;
}

const button = (name: string, label: string, testid: string, run: () => void): TemplateResult =>
  html`<button type="button" class="button" data-testid=${testid} @click=${run}>${icon(name, 16)}${label}</button>`;

/** What can be done with the turn whose trace is shown. */
function footOfTrace(trace: Trace, state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const row = [...state.states.values()].find((one) => one.turn === trace.turn);
  const messages = (trace.context?.messages?.length ?? 0) > 0;
  if (!row && !messages) return nothing;
  return html`<footer class="inspector-foot">
    ${row ? button('move', 'Move this turn', 'move-turn', () => actions.correct.choosePlace(row.id)) : nothing}
    ${row && row.position > 1 && trace.decision ? button('scales', 'Why not another?', 'why-not', () => actions.correct.chooseOther(trace.turn)) : nothing}
    ${messages
      ? html`<button type="button" class="button ${row ? 'tight' : ''}" data-testid="exact-messages" aria-label="Exact messages" title="Exact messages"
          @click=${() => actions.dialog('messages')}>${icon('copy', 16)}<span class="tight-word">Exact messages</span></button>`
      : nothing}</footer>`;
}

function footOfState({ id }: StateDetail, state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const row = state.states.get(id);
  if (!row) return nothing;
  const other = laterTurn(state, row);
  return html`<footer class="inspector-foot">
    ${button('pin', 'Continue here', 'continue-here', () => actions.place({ kind: 'state', state: id }))}
    ${button('move', 'Move to…', 'move-state', () => actions.correct.choosePlace(id))}
    ${menu({
      name: 'state-more', open: state.menu, toggle: actions.menu, label: 'More to do with this turn', class: 'button square', face: icon('more', 16), up: true, right: true,
      groups: [{ items: [
        { label: 'Show in forest', leading: icon('target', 15), run: () => { actions.select(id, { center: true }); actions.phoneTab('forest'); } },
        ...(row.parent === null ? [] : [{ label: 'Make it a topic of its own…', leading: icon('plus', 15), run: () => actions.correct.plan(id, null) }]),
        ...(other === null ? [] : [{ label: 'Why did a later turn not go here?', leading: icon('scales', 15), run: () => actions.correct.compare(other, id) }]),
        { label: 'Look again at later turns…', leading: icon('retry', 15), run: () => actions.correct.lookAgain(row.position) },
        { label: 'Save the path to it as Markdown', leading: icon('down', 15), href: markdownOf(state.forest?.id ?? 0, id), download: `${row.label}.md` },
      ] }, { items: [{ label: 'Delete…', leading: icon('trash', 15), clay: true, run: () => actions.forget.open({ kind: 'state', id, text: row.label }) }] }],
    })}</footer>`;
}

function foot(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (state.tab === 'why' && state.trace.status === 'here') return footOfTrace(state.trace.value, state, actions);
  if (state.tab === 'state' && state.detail.status === 'here') return footOfState(state.detail.value, state, actions);
  if (state.tab === 'evidence' && state.slot) return footOfValue(state, actions);
  return nothing;
}

function permalink(state: AppState): string {
  const hash = state.slot && state.tab === 'evidence' ? `${state.slot.kind}=${state.slot.id}`
    : state.tab === 'why' && state.trace.status === 'here' ? `turn=${state.trace.value.turn}`
    : state.selected !== null ? `state=${state.selected}` : '';
  return `${location.origin}/forests/${state.forest?.id ?? ''}/${hash ? `#${hash}&tab=${state.tab}` : ''}`;
}

export function inspector(state: AppState, width: number, actions: Actions): TemplateResult {
  const views: Record<Tab, () => TemplateResult> = {
    why: () => why(state, width - NOT_BAR, actions),
    state: () => stateView(state, actions),
    evidence: () => evidenceView(state, actions),
    health: () => health(actions)?.healthView(state, actions) ?? html``,
  };
  return html`<header class="panel-head inspector-head">
      <div class="tabs" role="tablist" aria-label="Details" @keydown=${(event: KeyboardEvent) => onTabKey(event, state, actions)}>
        ${TABS.map(([tab, label]) => html`<button type="button" role="tab" id="tab-${tab}" data-testid="tab-${tab}" aria-selected=${state.tab === tab} aria-controls="details-body"
          tabindex=${state.tab === tab ? 0 : -1} @click=${() => actions.tab(tab)}>${label}</button>`)}
      </div>
      ${menu({
        name: 'details', open: state.menu, toggle: actions.menu, label: 'More about this', class: 'icon-button', face: icon('more', 18), right: true,
        groups: [{ items: [
          { label: 'Copy a link to this', leading: icon('link', 15), run: () => actions.copy(permalink(state), 'The link') },
          { label: 'Fold this panel', leading: icon('right', 15), run: () => actions.fold('inspector', true) },
        ] }],
      })}
      <button type="button" class="icon-button drawer-close" aria-label="Close details" @click=${() => actions.drawer(false)}>${icon('close', 16)}</button>
    </header>
    ${hatch}
    <div class="inspector-body" id="details-body" role="tabpanel" aria-labelledby="tab-${state.tab}" tabindex="0" data-testid="inspector">${views[state.tab]()}</div>
    ${foot(state, actions)}`;
}
