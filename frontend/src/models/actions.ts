/** What a person does about models: look at them, choose one, and, of the staff, connect one. Keys are in the form's own field, never in the store. */

import { api } from '../api';
import { keepSetting, readSetting } from '../chat/draft';
import { troubleOf } from '../conversation';
import type { AppState } from '../state';
import type { Store } from '../store';
import type { Models, ModelsTested } from '../types';
import type { ModelsState, Typed } from './models';
import { shortName } from './words';

export interface ModelActions {
  open(): void;
  /** Ask anew what answers; what it answers with is shown as soon as it is there. */
  refresh(): Promise<void>;
  closeNote(): void;
  /** From the next turn on this model answers in the forest; '' is the site's own. */
  choose(name: string): void;
  /** Something else is typed: what was found of the old holds no longer. */
  changed(what: 'server' | 'model'): void;
  forgetKey(): void;
  look(typed: Typed): void;
  test(typed: Typed | null): void;
  use(typed: Typed): void;
  leave(): void;
}

const NOTE = 'offline-note';
/** A page that was away for so long asks again. */
const STALE_MS = 60_000;

export function createModels(store: Store<AppState>, toast: (words: string) => void): ModelActions {
  let asked = 0;
  const put = (part: Partial<ModelsState>) => store.set(({ models }) => ({ models: { ...models, ...part } }));

  const take = (known: Models) => {
    const model = known.roles.find((role) => role.role === 'answer')?.model ?? 'offline';
    // Once a model was connected, its going is news again.
    if (model !== 'offline') keepSetting(NOTE, '');
    put({ known, ...(model === 'offline' ? { noteClosed: readSetting(NOTE) === 'closed' } : {}) });
    store.set(({ me }) => (me && me.model !== model ? { me: { ...me, model } } : {}));
  };

  const during = async (doing: NonNullable<ModelsState['doing']>, work: () => Promise<void>) => {
    if (store.get().models.doing) return;
    put({ doing, trouble: null, tests: [] });
    try {
      await work();
    } catch (error) {
      put({ trouble: troubleOf(error) });
    } finally {
      put({ doing: null });
    }
  };
  const tried = (answer: ModelsTested) => {
    take(answer);
    put({ tests: answer.tests, ...(answer.models.length ? { found: answer.models } : {}) });
  };

  const actions: ModelActions = {
    open() {
      put({ found: [], tests: [], trouble: null, forgetKey: false });
      store.set({ dialog: 'models', menu: null });
      void actions.refresh();
    },
    async refresh() {
      asked = Date.now();
      try {
        take(await api.models());
      } catch (error) {
        if (store.get().dialog === 'models') put({ trouble: troubleOf(error) });
      }
    },
    closeNote() {
      keepSetting(NOTE, 'closed');
      put({ noteClosed: true });
    },
    async choose(name) {
      const { forest } = store.get();
      if (!forest) return;
      try {
        const changed = await api.chooseModel(forest.id, name);
        store.set(({ forest: now, forests }) => ({
          forest: now?.id === changed.id ? changed : now, forests: forests.map((one) => (one.id === changed.id ? changed : one)),
        }));
        toast(`${shortName(changed.answer_model || store.get().models.known?.connection.model || 'The usual model')} answers from the next turn on.`);
      } catch (error) {
        store.set({ notice: troubleOf(error) });
        void actions.refresh();
      }
    },
    changed: (what) => {
      const { tests, trouble, found } = store.get().models;
      if (tests.length || trouble || (what === 'server' && found.length)) put({ tests: [], trouble: null, ...(what === 'server' ? { found: [] } : {}) });
    },
    forgetKey: () => put({ forgetKey: true }),
    look: (typed) => void during('look', async () => tried(await api.testModels({ ...typed, list_only: true }))),
    test: (typed) => void during('test', async () => tried(await api.testModels(typed ?? {}))),
    use: (typed) => void during('use', async () => {
      take(await api.connectModel(typed));
      store.set({ dialog: null });
      toast(`${shortName(store.get().me?.model ?? '')} answers from now on.`);
    }),
    leave: () => void during('leave', async () => {
      take(await api.disconnectModel());
      store.set({ dialog: null });
      toast('Answers are made offline again.');
    }),
  };

  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && Date.now() - asked > STALE_MS && store.get().me) void actions.refresh();
  });
  return actions;
}
