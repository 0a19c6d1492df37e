/** What a person does to correct the forest: choose another place, look at what that does, do it, undo it; and the same for what is remembered. */

import { api, ApiError, destination, type Revision } from '../api';
import type { Live } from '../controller';
import { troubleOf } from '../conversation';
import { shutOpen } from '../shell/frame';
import { count } from '../shell/time';
import type { AppState, Toast } from '../state';
import type { Store } from '../store';
import type { Change, Item, Job } from '../types';
import { gotOn, proposalsOf, targetsOf, tickedAtFirst, type Correcting, type Picking } from './correcting';

export interface CorrectActions {
  /** Choose where a state goes. */
  choosePlace(state: number): void;
  /** Choose a place to compare with the one a turn has. */
  chooseOther(turn: number): void;
  /** This one is chosen, in the drawing or by search. */
  pick(state: number): void;
  putBack(): void;
  /** Look at what a move does; `parent` null makes a root. */
  plan(state: number, parent: number | null): void;
  move(): void;
  undo(change: number): void;
  /** See how a place fares beside the one a turn has. */
  compare(turn: number, state: number): void;
  endComparison(): void;
  /** Place the turns after a position again, for a look. */
  lookAgain(after: number): void;
  tick(state: number, on: boolean): void;
  tickAll(on: boolean): void;
  applyTicked(): void;
  stopLooking(): void;
  revise(item: Item, what: Exclude<Revision['do'], 'edit'>): void;
  reword(item: Item): void;
  wording(text: string): void;
  keepWording(): void;
  moreChanges(): void;
}

export type Toaster = (words: string, more?: Partial<Omit<Toast, 'words'>>) => void;

/** Characters of a turn's name in a toast. */
const LONGEST = 44;
const EVERY = 400;
const OPEN: ReadonlySet<string> = new Set(['waiting', 'running']);
/** A slide of the drawing is over by then; read anew, nothing jumps. */
const SETTLED = 450;

const DONE: Record<Revision['do'], string> = {
  retract: 'Taken back. It is no longer used.', restore: 'It holds again.', pin: 'Pinned. It is always shown to the model.', unpin: 'No longer pinned.',
  quarantine: 'Set aside. It is kept, and not used.', edit: 'The new wording holds now.',
};

export function createCorrecting(store: Store<AppState>, live: Live, toast: Toaster): CorrectActions {
  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const get = () => store.get().correcting;
  const put = (part: Partial<Correcting>) => store.set(({ correcting }) => ({ correcting: { ...correcting, ...part } }));
  const announce = (announcement: string) => store.set({ announcement });
  const forest = () => store.get().forest?.id ?? 0;
  const labelOf = (state: number) => {
    const label = store.get().states.get(state)?.label ?? 'this turn';
    return label.length > LONGEST ? `${label.slice(0, LONGEST - 1).trimEnd()}…` : label;
  };

  /** The forest changed under what is shown: read it once the drawing has slid to its new places. */
  const settle = () => setTimeout(() => {
    store.set(({ revised }) => ({ revised: revised + 1 }));
    void live.conversation?.catchUp();
  }, SETTLED);

  const begin = (picking: Picking) => {
    const targets = targetsOf(store.get().states, picking);
    store.set({ menu: null, stateMenu: null, query: '', drawer: false, phoneTab: 'forest' });
    put({ picking });
    announce(picking.purpose === 'move'
      ? `Choose where “${labelOf(picking.state)}” goes. Arrows walk the forest, Enter chooses, slash searches, Escape leaves. ${count(targets.size, 'place')} to choose from.`
      : 'Choose a place to compare with. Arrows walk the forest, Enter chooses, slash searches, Escape leaves.');
    // The tree takes the keys, wherever it was asked from.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.forest-tree')?.focus({ preventScroll: true }));
  };

  const look = async (job: Job) => {
    clearTimeout(timer);
    const { replaying } = get();
    if (replaying?.job?.id !== job.id) return;
    let now = job;
    if (OPEN.has(job.status)) {
      try {
        now = await api.job(job.id);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return put({ replaying: { ...replaying, trouble: troubleOf(error) } });
      }
    }
    if (get().replaying?.job?.id !== now.id) return;
    const done = now.status === 'done';
    put({ replaying: { ...get().replaying!, job: now, ...(gotOn(get().replaying!.job, now) ? { movedAt: Date.now() } : {}), ...(done ? { chosen: tickedAtFirst(proposalsOf(now)) } : {}) } });
    if (OPEN.has(now.status)) timer = setTimeout(() => void look(now), EVERY);
    else announce(done ? `${count(proposalsOf(now).length, 'turn')} would go elsewhere now.` : 'Looking again has ended.');
  };

  /** A new replay; while one is under way, that one: somebody closed the page on it. */
  const replayOf = async (after: number): Promise<Job> => {
    try {
      return await api.replay(forest(), after);
    } catch (error) {
      const running = error instanceof ApiError && error.status === 409 ? await api.openReplay(forest()) : null;
      if (!running) throw error;
      return running;
    }
  };

  const changed = (change: number | null | undefined, words: string, later: number | null = null) => {
    toast(words, { change: change ?? null, later });
    settle();
  };

  const actions: CorrectActions = {
    choosePlace: (state) => store.get().states.has(state) && begin({ purpose: 'move', state }),
    chooseOther: (turn) => begin({ purpose: 'compare', turn, state: [...store.get().states.values()].find((row) => row.turn === turn)?.id ?? null }),
    pick(state) {
      const { picking } = get();
      if (!picking) return;
      if (!targetsOf(store.get().states, picking).has(state)) {
        return toast(picking.purpose === 'move' ? 'It can’t go there: only under an earlier turn, and not where it is.' : 'That one can’t be compared: it came later, or is where the turn went.');
      }
      put({ picking: null });
      store.set({ query: '' });
      // Where the keys go on from when the dialog is closed; the search field would take them as words.
      document.querySelector<HTMLElement>('.forest-tree')?.focus({ preventScroll: true });
      if (picking.purpose === 'move') actions.plan(picking.state, state);
      else actions.compare(picking.turn, state);
    },
    putBack() {
      const { picking } = get();
      if (!picking) return;
      put({ picking: null });
      announce('Nothing is changed.');
      if (innerWidth < 900) store.set({ phoneTab: 'details' });
    },
    plan(state, parent) {
      const ticket = ++asked;
      store.set({ dialog: 'move', menu: null, stateMenu: null });
      put({ picking: null, moving: { state, parent, preview: { status: 'loading' }, doing: false, trouble: null } });
      const tell = (part: Partial<NonNullable<Correcting['moving']>>) => {
        const { moving } = get();
        if (moving && ticket === asked) put({ moving: { ...moving, ...part } });
      };
      api.previewMove(state, destination(parent)).then((value) => tell({ preview: { status: 'here', value } }), (error: unknown) => tell({ preview: { status: 'failed', trouble: troubleOf(error) } }));
    },
    async move() {
      const { moving } = get();
      if (!moving || moving.doing) return;
      put({ moving: { ...moving, doing: true, trouble: null } });
      try {
        const done = await api.move(moving.state, destination(moving.parent));
        const { position } = store.get().states.get(moving.state) ?? { position: null };
        const later = moving.preview.status === 'here' && moving.preview.value.later > 0;
        shutOpen();
        changed(done.change, moving.parent === null ? 'It begins a topic of its own now.' : `Moved under “${labelOf(moving.parent)}”.`, later ? position : null);
        announce('Moved. Press u to undo.');
      } catch (error) {
        const now = get().moving;
        if (now) put({ moving: { ...now, doing: false, trouble: troubleOf(error) } });
      }
    },
    async undo(change) {
      try {
        await api.undo(change);
        toast('Undone.');
        settle();
      } catch (error) {
        const { message, action } = troubleOf(error);
        toast(`${message} ${action ?? ''}`.trim());
      }
    },
    compare(turn, state) {
      store.set(({ folded }) => ({ tab: 'why', slot: null, inspectedTurn: turn, drawer: true, phoneTab: 'details', folded: { ...folded, inspector: false } }));
      put({ picking: null, compared: { turn, state } });
    },
    endComparison: () => put({ compared: null, comparison: { status: 'none' } }),
    async lookAgain(after) {
      store.set({ dialog: 'replay', menu: null, toast: null });
      put({ replaying: { after, job: null, movedAt: Date.now(), chosen: new Set(), doing: false, trouble: null } });
      try {
        const job = await replayOf(after);
        const { replaying } = get();
        if (!replaying) return void api.cancelJob(job.id).catch(() => undefined);
        put({ replaying: { ...replaying, job } });
        await look(job);
      } catch (error) {
        const { replaying } = get();
        if (replaying) put({ replaying: { ...replaying, trouble: troubleOf(error) } });
      }
    },
    tick(state, on) {
      const { replaying } = get();
      if (!replaying) return;
      const chosen = new Set(replaying.chosen);
      if (on) chosen.add(state);
      else chosen.delete(state);
      put({ replaying: { ...replaying, chosen } });
    },
    tickAll(on) {
      const { replaying } = get();
      if (replaying) put({ replaying: { ...replaying, chosen: new Set(on ? proposalsOf(replaying.job).map((one) => one.state) : []) } });
    },
    async applyTicked() {
      const { replaying } = get();
      if (!replaying || replaying.doing) return;
      const moves = proposalsOf(replaying.job).filter((one) => replaying.chosen.has(one.state)).map((one) => ({ state: one.state, parent: one.to }));
      if (!moves.length) return;
      put({ replaying: { ...replaying, doing: true, trouble: null } });
      try {
        const done = await api.moveAll(forest(), moves);
        shutOpen();
        changed(done.change, `${count(done.moved, 'turn')} moved.`);
      } catch (error) {
        const now = get().replaying;
        if (now) put({ replaying: { ...now, doing: false, trouble: troubleOf(error) } });
      }
    },
    stopLooking() {
      const { replaying } = get();
      if (replaying?.job && OPEN.has(replaying.job.status)) api.cancelJob(replaying.job.id).catch(() => undefined);
      shutOpen();
    },
    async revise(item, what) {
      store.set({ menu: null });
      try {
        const now = await api.revise(item.kind, item.id, { do: what });
        store.set(({ slot }) => (slot ? { slot: { key: `${now.kind}${now.id}`, kind: now.kind, id: now.id } } : {}));
        changed(now.change, DONE[what]);
      } catch (error) {
        const { message, action } = troubleOf(error);
        toast(`${message} ${action ?? ''}`.trim());
      }
    },
    reword(item) {
      put({ rewording: { item, text: item.text, doing: false, trouble: null } });
      store.set({ dialog: 'reword', menu: null });
    },
    wording(text) {
      const { rewording } = get();
      if (rewording) put({ rewording: { ...rewording, text } });
    },
    async keepWording() {
      const { rewording } = get();
      const text = rewording?.text.trim();
      if (!rewording || rewording.doing || !text || text === rewording.item.text) return;
      put({ rewording: { ...rewording, doing: true, trouble: null } });
      try {
        const now = await api.revise(rewording.item.kind, rewording.item.id, { do: 'edit', text });
        shutOpen();
        store.set(({ slot }) => ({ ...(slot ? { slot: { key: `${now.kind}${now.id}`, kind: now.kind, id: now.id } } : {}) }));
        changed(now.change, DONE.edit);
      } catch (error) {
        const still = get().rewording;
        if (still) put({ rewording: { ...still, doing: false, trouble: troubleOf(error) } });
      }
    },
    async moreChanges() {
      const { changes } = get();
      if (changes.status !== 'here' || changes.value.next === null) return;
      try {
        const page = await api.changes(forest(), changes.value.next);
        const known: Change[] = changes.value.list;
        put({ changes: { status: 'here', value: { list: [...known, ...page.results], next: page.next } } });
      } catch (error) {
        store.set({ notice: troubleOf(error) });
      }
    },
  };

  store.watch((state) => state.dialog, (_, before) => {
    if (before === 'move') put({ moving: null });
    if (before === 'reword') put({ rewording: null });
    if (before === 'replay') {
      clearTimeout(timer);
      put({ replaying: null });
    }
  });
  // Another turn is looked at: what was compared belongs to the one before.
  store.watch((state) => state.inspectedTurn, (turn) => get().compared && get().compared!.turn !== turn && actions.endComparison());
  return actions;
}
