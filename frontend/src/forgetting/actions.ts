/** What a person does to delete for good: look at what would go, choose how, confirm. */

import { api, type Placement } from '../api';
import { forgetWritten } from '../chat/draft';
import type { Live } from '../controller';
import { troubleOf } from '../conversation';
import type { Toaster } from '../correcting/actions';
import { shutOpen } from '../shell/frame';
import type { AppState } from '../state';
import type { Store } from '../store';
import type { ForgetAsked, Match } from '../types';
import { forgettingOf, keyOf, mayDelete, requestOf, type Forgetting, type Target } from './forgetting';

export interface ForgetActions {
  /** Look at what goes with something. */
  open(target: Target): void;
  /** Something was asked to be forgotten in the chat: choose what. */
  asked(text: string, placement: Placement, asked: ForgetAsked): void;
  choose(match: Match): void;
  /** Back to what else fits. */
  back(): void;
  /** Not a wish to delete, but something to say. */
  say(): void;
  mode(mode: Forgetting['mode']): void;
  redact(on: boolean): void;
  typed(text: string): void;
  done(): void;
}

const WORDS: Record<Target['kind'], string> = {
  state: 'The turn is deleted.', fact: 'The fact is deleted.', artifact: 'The list is deleted.', event: 'The event is deleted.', mutable_state: 'The value is deleted.',
  forest: 'The forest is deleted.', account: 'Your account is deleted.',
};

export function createForgetting(store: Store<AppState>, live: Live, toast: Toaster, leave: () => void): ForgetActions {
  let ticket = 0;
  const get = () => store.get().forgetting;
  const put = (part: Partial<Forgetting>) => store.set(({ forgetting }) => ({ forgetting: forgetting && { ...forgetting, ...part } }));

  /** What would go, as it is chosen now. The old answer stays until the new one is here. */
  const look = async () => {
    const now = get();
    if (!now?.target) return;
    const mine = ++ticket;
    if (now.preview.status !== 'here') put({ preview: { status: 'loading' } });
    const { path, params } = requestOf(now, true);
    try {
      const value = await api.forget(path, params);
      if (mine === ticket && value) put({ preview: { status: 'here', value } });
    } catch (error) {
      if (mine === ticket) put({ preview: { status: 'failed', trouble: troubleOf(error) } });
    }
  };

  const gone = async (target: Target) => {
    if (target.kind === 'forest') {
      forgetWritten(target.id);
      store.set(({ forests }) => ({ forests: forests.filter((one) => one.id !== target.id) }));
      return location.assign('/');
    }
    if (target.kind === 'account') {
      forgetWritten(null);
      return leave();
    }
    const { asked } = get()!;
    const left = asked && { ...asked, gone: new Set(asked.gone).add(keyOf(target)) };
    toast(WORDS[target.kind]);
    store.set(({ slot, selected, correcting }) => ({
      query: '',
      ...(slot && target.kind === slot.kind && target.id === slot.id ? { slot: null } : {}),
      ...(target.kind === 'state' && selected === target.id ? { selected: null, inspectedTurn: null, correcting: { ...correcting, compared: null } } : {}),
    }));
    if (left && left.matches.some((match) => !left.gone.has(keyOf(match)))) store.set({ forgetting: forgettingOf(null, left) });
    else shutOpen();
    // What is gone is no longer asked for: first the forest without it, then what is shown of it.
    await live.conversation?.catchUp();
    store.set(({ revised }) => ({ revised: revised + 1 }));
  };

  const actions: ForgetActions = {
    open(target) {
      store.set({ forgetting: forgettingOf(target), dialog: 'forget', menu: null, stateMenu: null });
      void look();
    },
    asked(text, placement, { what, matches }) {
      store.set({ forgetting: forgettingOf(null, { text, placement, what, matches, gone: new Set() }), dialog: 'forget', menu: null });
    },
    choose(match) {
      const { asked } = get() ?? { asked: null };
      store.set({ forgetting: forgettingOf({ kind: match.kind, id: match.id, text: match.text }, asked) });
      void look();
    },
    back() {
      const { asked } = get() ?? { asked: null };
      ticket++;
      if (asked) store.set({ forgetting: forgettingOf(null, asked) });
    },
    say() {
      const { asked } = get() ?? { asked: null };
      shutOpen();
      if (asked) live.conversation?.send(asked.text, { ...asked.placement, as_turn: true });
    },
    mode(mode) {
      put({ mode });
      void look();
    },
    redact(redact) {
      put({ redact });
      void look();
    },
    typed: (typed) => put({ typed }),
    async done() {
      const now = get();
      if (!now?.target || !mayDelete(now)) return;
      put({ doing: true, trouble: null });
      const { path, params } = requestOf(now, false);
      try {
        await api.forget(path, params, now.target.kind === 'account' ? { username: now.typed.trim() } : undefined);
        await gone(now.target);
      } catch (error) {
        put({ doing: false, trouble: troubleOf(error) });
      }
    },
  };

  store.watch((state) => state.dialog, (_, before) => {
    if (before !== 'forget') return;
    ticket++;
    store.set({ forgetting: null });
  });
  return actions;
}
