/** Editing a turn, asking it again, and finding the way between an original and what was made of it. */

import type { Actions } from '../actions';
import type { Live } from '../controller';
import type { AppState } from '../state';
import type { Store } from '../store';
import { keepEdit, readEdit, readOpenEdit } from './draft';
import { hindrance } from './editor';
import type { ChatTurn } from './turns';

export type EditingActions = Pick<Actions, 'edit' | 'editDraft' | 'editOriginal' | 'cancelEdit' | 'sendEdit' | 'rewrite' | 'askAgain' | 'reveal' | 'showText'>;

/** Pages of earlier turns that are fetched to find one. */
const FURTHEST = 40;
const FOUND_MS = 1_600;

export function createEditing(store: Store<AppState>, live: Live): EditingActions & { reopenEdit(): void } {
  const forest = () => store.get().forest?.id ?? 0;
  const turnOf = (id: number) => store.get().turns.find((turn) => turn.id === id);
  const article = (id: number) => live.turns?.querySelector<HTMLElement>(`[data-turn="${id}"]`) ?? null;
  /** After the next drawing, which asks for its frame before this one does. */
  const drawn = (work: () => void) => requestAnimationFrame(() => requestAnimationFrame(work));

  const open = (turn: ChatTurn) => {
    if (turn.id === null || turn.state === null) return;
    const text = readEdit(forest(), turn.id) ?? turn.text;
    keepEdit(forest(), turn.id, text === turn.text ? null : text, true);
    store.set({ editing: { turn: turn.id, begun: text, text }, phoneTab: 'chat' });
  };
  const close = () => {
    const { editing } = store.get();
    if (!editing) return;
    keepEdit(forest(), editing.turn, editing.text === turnOf(editing.turn)?.text ? null : editing.text, false);
    store.set({ editing: null });
  };
  const change = (text: string) => {
    const { editing } = store.get();
    if (!editing) return;
    keepEdit(forest(), editing.turn, text === turnOf(editing.turn)?.text ? null : text, true);
    store.set({ editing: { ...editing, text } });
  };

  return {
    edit(turn) {
      close();
      open(turn);
    },
    editDraft: change,
    editOriginal() {
      const { editing } = store.get();
      const turn = editing && turnOf(editing.turn);
      if (!editing || !turn) return;
      keepEdit(forest(), editing.turn, null, true);
      const field = article(editing.turn)?.querySelector('textarea');
      if (field) field.value = turn.text;
      store.set({ editing: { turn: editing.turn, begun: turn.text, text: turn.text } });
      field?.focus();
    },
    cancelEdit() {
      const id = store.get().editing?.turn;
      close();
      if (id !== undefined) drawn(() => article(id)?.querySelector<HTMLElement>('[data-testid="edit"]')?.focus());
    },
    sendEdit() {
      const state = store.get();
      const { editing } = state;
      const turn = editing && turnOf(editing.turn);
      if (!editing || !turn || !live.conversation || hindrance(editing.text, turn.text, state.me?.max_turn_bytes ?? Infinity)) return;
      keepEdit(forest(), editing.turn, null, false);
      store.set({ editing: null, notice: null });
      live.conversation.send(editing.text.trim(), { edit_of: editing.turn });
      live.area?.focus({ preventScroll: true });
    },
    async rewrite(turn) {
      await live.conversation?.drop(turn);
      if (store.get().turns.some((one) => one.client_id === turn.client_id)) return; // it could not be dropped, and the page says why
      const original = turn.edited_from && turnOf(turn.edited_from.turn);
      if (original) {
        keepEdit(forest(), turn.edited_from!.turn, turn.text, true);
        return open(original);
      }
      const { area } = live;
      if (!area) return;
      area.value = [area.value.trimEnd(), turn.text].filter(Boolean).join('\n\n');
      area.dispatchEvent(new Event('input', { bubbles: true }));
      area.focus();
    },
    askAgain(turn) {
      if (turn.id === null || turn.state === null) return;
      store.set({ notice: null });
      live.conversation?.send(turn.text, { edit_of: turn.id });
    },
    async reveal(turn, state) {
      store.set({ phoneTab: 'chat' });
      for (let page = 0; !turnOf(turn) && store.get().earlier !== null && page < FURTHEST; page++) await live.conversation?.earlier();
      if (state !== null && store.get().states.has(state)) {
        store.set({ selected: state, inspectedTurn: turn, preview: null, slot: null });
        live.panel?.view.centerOn(state);
      }
      drawn(() => {
        const found = article(turn);
        if (!found) return;
        found.scrollIntoView({ block: 'start' });
        found.focus({ preventScroll: true });
        found.classList.add('found');
        setTimeout(() => found.classList.remove('found'), FOUND_MS);
      });
    },
    showText: (turn) => store.set(({ openTexts }) => {
      const next = new Set(openTexts);
      if (!next.delete(turn)) next.add(turn);
      return { openTexts: next };
    }),
    /** After a reload: the field that was open is open again, with what was written in it. */
    reopenEdit() {
      const id = readOpenEdit(forest());
      const turn = id === null ? undefined : turnOf(id);
      if (turn) open(turn);
    },
  };
}
