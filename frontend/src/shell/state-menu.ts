/** The menu of a state in the drawing: by right click, or by the menu key on the focused one. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from '../actions';
import { markdownOf } from '../api';
import { laterTurn } from '../correcting/correcting';
import { icon } from '../icons';
import type { AppState } from '../state';
import type { StateRow } from '../types';
import { entries } from './menu';

const ROOM = 8;

interface Entry {
  label: string;
  icon: string;
  tone?: 'clay';
  run(): void;
}

function groups(row: StateRow, state: AppState, actions: Actions): Entry[][] {
  const other = laterTurn(state, row);
  return [
    [
      { label: 'Open', icon: 'info', run: () => { actions.select(row.id); actions.tab('state'); } },
      { label: 'Continue here', icon: 'pin', run: () => actions.place({ kind: 'state', state: row.id }) },
      ...(row.turn === null ? [] : [{ label: 'Why here?', icon: 'info', run: () => actions.inspectTurn(row.turn as number) }]),
      ...(other === null ? [] : [{ label: `Why not here? (turn ${[...state.states.values()].find((one) => one.turn === other)?.position ?? ''})`, icon: 'scales', run: () => actions.correct.compare(other, row.id) }]),
    ],
    [
      { label: 'Move to…', icon: 'move', run: () => actions.correct.choosePlace(row.id) },
      ...(row.parent === null ? [] : [{ label: 'Make it a topic of its own…', icon: 'plus', run: () => actions.correct.plan(row.id, null) }]),
      { label: 'Look again at later turns…', icon: 'retry', run: () => actions.correct.lookAgain(row.position) },
    ],
    [
      { label: 'Save the path to it as Markdown', icon: 'down', run: () => save(markdownOf(state.forest?.id ?? 0, row.id), `${row.label}.md`) },
      { label: 'Copy a link to it', icon: 'link', run: () => actions.copy(`${location.origin}/forests/${state.forest?.id ?? ''}/#state=${row.id}&tab=state`, 'The link') },
      { label: 'Delete…', icon: 'trash', tone: 'clay', run: () => actions.forget.open({ kind: 'state', id: row.id, text: row.label }) },
    ],
  ];
}

function save(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}

export function stateMenu(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const at = state.stateMenu;
  const row = at === null ? undefined : state.states.get(at.state);
  if (!at || !row) return nothing;
  const place = (element: Element | undefined) => {
    const menu = element as HTMLElement | undefined;
    if (!menu) return;
    queueMicrotask(() => {
      if (!menu.isConnected) return;
      menu.style.setProperty('left', `${Math.max(ROOM, Math.min(at.x, innerWidth - menu.offsetWidth - ROOM))}px`);
      menu.style.setProperty('top', `${Math.max(ROOM, Math.min(at.y, innerHeight - menu.offsetHeight - ROOM))}px`);
      if (!menu.contains(document.activeElement)) entries(menu)[0]?.focus();
    });
  };
  const close = () => {
    actions.stateMenu(null);
    document.querySelector<HTMLElement>('.forest-tree')?.focus({ preventScroll: true });
  };
  const key = (event: KeyboardEvent) => {
    const list = entries(event.currentTarget as Element);
    const now = list.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) list[(now + step + list.length) % list.length]?.focus();
    else if (event.key === 'Home') list[0]?.focus();
    else if (event.key === 'End') list.at(-1)?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="menu at-point" role="menu" aria-label=${`Turn ${row.position}, ${row.label}`} data-testid="state-menu" @keydown=${key} ${ref(place)}>
    <div class="menu-title" dir="auto">${row.label}</div>
    ${groups(row, state, actions).map((group) => html`<div class="menu-group" role="group">${group.map((entry) => html`<button type="button" class="menu-item ${entry.tone ?? ''}" role="menuitem" tabindex="-1"
      @click=${() => { close(); entry.run(); }}><span class="menu-tick">${icon(entry.icon, 15)}</span><span class="menu-label">${entry.label}</span></button>`)}</div>`)}
  </div>`;
}
