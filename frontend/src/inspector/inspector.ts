/** The inspector: four tabs over one turn or state, its actions at the foot. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { menu } from '../shell/menu';
import { shownTurn, type AppState, type Tab } from '../state';
import { hatch } from './bars';
import { evidenceView } from './evidence';
import { healthView } from './health';
import { whatIsMissing } from './missing';
import { stateView } from './state';
import { liveTrace, traceView } from './trace';

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

function foot(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (state.tab === 'why' && state.trace.status === 'here' && state.trace.value.context?.messages?.length) {
    return html`<footer class="inspector-foot"><button type="button" class="button" data-testid="exact-messages" @click=${() => actions.dialog('messages')}>${icon('copy', 16)}Exact messages</button></footer>`;
  }
  if (state.tab === 'state' && state.detail.status === 'here') {
    const { id } = state.detail.value;
    return html`<footer class="inspector-foot"><button type="button" class="button" data-testid="continue-here" @click=${() => actions.place({ kind: 'state', state: id })}>${icon('pin', 16)}Continue here</button>
      <button type="button" class="button" @click=${() => actions.select(id, { center: true })}>${icon('target', 16)}Show in forest</button></footer>`;
  }
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
    health: () => healthView(state),
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
