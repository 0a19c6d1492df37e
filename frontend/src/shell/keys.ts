/** Keys that work everywhere on the page, and clicks that close what is open. Arrows inside the forest belong to the forest. */

import type { Actions } from '../actions';
import type { Live } from '../controller';
import type { AppState, Tab } from '../state';
import type { Store } from '../store';

const TABS: Tab[] = ['why', 'state', 'evidence', 'health'];

const isTyping = (target: EventTarget | null): boolean => target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** The state before or after the selected one in time. */
function inTime(state: AppState, step: number): number | null {
  const rows = [...state.states.values()].sort((a, b) => a.position - b.position);
  const at = rows.findIndex((row) => row.id === state.selected);
  if (at < 0) return (step < 0 ? rows.at(-1) : rows[0])?.id ?? null;
  return rows[at + step]?.id ?? null;
}

export function installKeys(store: Store<AppState>, actions: Actions, live: Live): void {
  const run = (event: KeyboardEvent): boolean => {
    const state = store.get();
    switch (event.key) {
      case '/': {
        if (innerWidth < 900) actions.phoneTab('forest');
        requestAnimationFrame(() => document.getElementById('search')?.focus());
        return true;
      }
      case '?': actions.dialog('help'); return true;
      case 'f': actions.fit(); return true;
      case 'c': live.area?.focus(); return true;
      case 'e': {
        const turn = state.turns.find((one) => one.id !== null && one.id === state.inspectedTurn && one.state !== null) ?? state.turns.findLast((one) => one.state !== null);
        if (turn) actions.edit(turn);
        return turn !== undefined;
      }
      case '[':
      case ']': {
        const id = inTime(state, event.key === '[' ? -1 : 1);
        if (id !== null) actions.select(id, { center: true });
        return true;
      }
      case '1': case '2': case '3': case '4': actions.tab(TABS[Number(event.key) - 1]!); return true;
      case 'm': {
        const id = state.selected ?? state.turns.findLast((turn) => turn.state !== null)?.state ?? null;
        if (id !== null) actions.correct.choosePlace(id);
        return id !== null;
      }
      case 'u':
        if (state.toast?.change == null) return false;
        actions.correct.undo(state.toast.change);
        return true;
      case 't': actions.travel(!state.travelling); return true;
      case 'Escape':
        if (state.correcting.picking) actions.correct.putBack();
        else if (state.drawer && innerWidth < 1200) actions.drawer(false);
        else actions.select(null);
        return true;
      default: return false;
    }
  };
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || store.get().dialog || isTyping(event.target)) return;
    if (run(event)) event.preventDefault();
  });
  document.addEventListener('pointerdown', (event) => {
    const target = event.target as Element;
    if (store.get().menu && !target.closest('.menu-wrap')) actions.menu(null);
    if (store.get().stateMenu && !target.closest('.menu.at-point')) actions.stateMenu(null);
    if (store.get().hits && !target.closest('.search') && !target.closest('.forest-box')) store.set({ query: '' });
  });
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest('[data-copy="code"]');
    const code = button?.closest('.code')?.querySelector('code');
    if (code) actions.copy(code.textContent ?? '', 'The code');
  });
}
