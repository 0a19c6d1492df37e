/** The actions of the page over the store, the conversation and the drawing. */

import type { Actions } from './actions';
import { api, ApiError } from './api';
import { utf8Bytes } from './chat/bytes';
import { copyText } from './chat/clipboard';
import { keepDraft, keepSetting } from './chat/draft';
import { createEditing } from './chat/editing';
import { createCorrecting, type Toaster } from './correcting/actions';
import { createForgetting } from './forgetting/actions';
import { troubleOf, type Conversation } from './conversation';
import type { Placement } from './api';
import { createImporting } from './importing/actions';
import { ownName } from './importing/importing';
import { createModels } from './models/actions';
import type { ForestPanel } from './shell/forest-panel';
import { clampWidth } from './shell/resize';
import { applyTheme } from './shell/theme';
import { localZone } from './shell/time';
import type { AppState } from './state';
import type { Store } from './store';
import type { Item, Job } from './types';

/** What lives beside the store. */
export interface Live {
  conversation: Conversation | null;
  panel: ForestPanel | null;
  area: HTMLTextAreaElement | null;
  turns: HTMLElement | null;
}

export interface Site {
  signOut: string;
  open(forest: number): Promise<Conversation>;
}

const TOAST_MS = 2_400;
/** What can be undone stays longer, to be reached without haste. */
const UNDO_MS = 12_000;
const JOB_EVERY = 500;
const ITEM_KINDS: ReadonlySet<string> = new Set(['fact', 'artifact', 'event', 'mutable_state']);

export function createActions(store: Store<AppState>, live: Live, site: Site): Actions & { remember(forest: number): void; reopenEdit(): void } {
  let toastTimer: ReturnType<typeof setTimeout> | undefined;

  const toast: Toaster = (words, more = {}) => {
    clearTimeout(toastTimer);
    const said = { words, change: null, later: null, ...more };
    store.set({ toast: said });
    toastTimer = setTimeout(() => store.set({ toast: null }), said.change === null && said.later === null ? Math.max(TOAST_MS, words.length * 60) : UNDO_MS);
  };
  const remember = (forest: number) => keepSetting('forest', String(forest));
  const guarded = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      store.set({ notice: troubleOf(error) });
    }
  };
  const placement = (state: AppState): Placement => {
    switch (state.place.kind) {
      case 'branch': return state.active === null ? {} : { parent: state.active };
      case 'state': return { parent: state.place.state };
      case 'new': return { new_root: true };
      default: return {};
    }
  };

  /** The first turn of a person without a forest plants one. */
  let planting = false;
  const plantAndSend = (text: string, where: Placement) => guarded(async () => {
    if (planting) return;
    planting = true;
    try {
      await plant(text, where);
    } finally {
      planting = false;
    }
  });
  const plant = async (text: string, where: Placement) => {
    const forest = await api.createForest(ownName(store.get().me?.username ?? ''), localZone());
    history.replaceState(null, '', `/forests/${forest.id}/`);
    remember(forest.id);
    store.set(({ forests }) => ({ forests: [...forests, forest] }));
    const conversation = await site.open(forest.id);
    keepDraft(null, '');
    if (live.area) live.area.value = '';
    store.set({ draftBytes: 0, draftEmpty: true });
    conversation.send(text, where);
  };

  const waitFor = async (job: Job): Promise<Job> => {
    let now = job;
    while (now.status === 'waiting' || now.status === 'running') {
      store.set({ sample: { status: 'growing', done: now.done, total: now.total, message: now.message } });
      await new Promise((resolve) => setTimeout(resolve, JOB_EVERY));
      try {
        now = await api.job(now.id);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 0) throw error;
      }
    }
    return now;
  };

  const actions: Actions & { remember(forest: number): void; reopenEdit(): void } = {
    remember,
    ...createEditing(store, live),

    send(text) {
      const state = store.get();
      const trimmed = text.trim();
      if (!trimmed || utf8Bytes(trimmed) > (state.me?.max_turn_bytes ?? Infinity)) return false;
      const where = placement(state);
      store.set({ place: { kind: 'auto' }, notice: null, menu: null });
      if (!live.conversation) {
        void plantAndSend(trimmed, where);
        return false;
      }
      keepDraft(state.forest?.id ?? null, '');
      store.set({ draftBytes: 0, draftEmpty: true });
      live.conversation.send(trimmed, where);
      return true;
    },
    draft(text) {
      keepDraft(store.get().forest?.id ?? null, text);
      store.set({ draftBytes: utf8Bytes(text), draftEmpty: text.trim() === '' });
    },
    cancel: (turn) => live.conversation?.cancel(turn),
    retry: (turn) => void live.conversation?.retry(turn),
    keep: (turn) => void live.conversation?.keep(turn),
    drop: (turn) => void live.conversation?.drop(turn),
    earlier: () => void live.conversation?.earlier(),
    newest: () => void live.conversation?.newest(),
    place(place) {
      store.set({ place, ...(place.kind === 'state' ? { phoneTab: 'chat', drawer: false } : {}) });
      requestAnimationFrame(() => live.area?.focus());
    },
    dismissNotice: () => store.set({ notice: null }),
    copy(text, what) {
      copyText(text).then(() => toast(`${what} is copied.`.replace('messages is', 'messages are')), () => toast('The browser didn’t allow copying.'));
    },

    select(id, options = {}) {
      const row = id === null ? undefined : store.get().states.get(id);
      if (id !== null && !row) return;
      if (id !== null && store.get().correcting.picking) return actions.correct.pick(id);
      store.set(({ tab }) => ({
        selected: id, inspectedTurn: row?.turn ?? null, preview: null, slot: null,
        ...(row ? { drawer: true, evidenceScope: 'turn', ...(tab === 'health' ? { tab: 'state' } : {}) } : {}),
      }));
      if (id !== null && options.center) live.panel?.view.centerOn(id);
    },
    preview: (preview) => store.set({ preview }),
    inspectTurn(turn) {
      const { turns, states } = store.get();
      // A link can lead to a turn that the chat hasn't read yet: its state says where it is.
      const state = turns.find((one) => one.id === turn)?.state ?? [...states.values()].find((row) => row.turn === turn)?.id ?? null;
      store.set(({ folded, selected }) => ({
        inspectedTurn: turn, tab: 'why', drawer: true, phoneTab: innerWidth < 900 ? 'details' : 'chat', folded: { ...folded, inspector: false },
        selected: state ?? selected, slot: null,
      }));
      if (state !== null) live.panel?.view.centerOn(state);
    },
    inspectItem(kind, id, state) {
      if (!ITEM_KINDS.has(kind)) return actions.select(state, { center: true });
      const known = state !== null && store.get().states.has(state);
      if (known) live.panel?.view.centerOn(state);
      store.set(({ folded, selected }) => ({
        selected: known ? state : selected, inspectedTurn: known ? store.get().states.get(state)!.turn : store.get().inspectedTurn,
        slot: { key: `${kind}${id}`, kind: kind as Item['kind'], id }, slotState: state,
        tab: 'evidence', drawer: true, folded: { ...folded, inspector: false }, phoneTab: innerWidth < 900 ? 'details' : 'chat',
      }));
    },
    openSlot: (item) => actions.inspectItem(item.kind, item.id, item.state),
    closeSlot: () => store.set({ slot: null }),
    tab: (tab) => store.set({ tab, slot: null, drawer: true }),
    scope: (evidenceScope) => store.set({ evidenceScope }),
    toggleBlock: (name) => store.set(({ openBlocks }) => ({ openBlocks: toggled(openBlocks, name) })),
    toggleCandidate: (index) => store.set(({ openCandidates }) => ({ openCandidates: toggled(openCandidates, index) })),
    showChips: (turn) => store.set(({ openChips }) => ({ openChips: new Set(openChips).add(turn) })),
    search: (query) => store.set({ query }),
    walkHits(step) {
      const { hits, hitAt } = store.get();
      if (!hits?.length) return;
      const at = (hitAt + step + hits.length) % hits.length;
      store.set({ hitAt: at });
      live.panel?.view.centerOn(hits[at]!.state);
    },
    chooseHit(index) {
      const hit = store.get().hits?.[index];
      if (!hit) return;
      if (store.get().correcting.picking) return actions.correct.pick(hit.state);
      actions.select(hit.state, { center: true });
      if (hit.kind === 'fact') actions.inspectItem('fact', hit.id, hit.state);
      else actions.tab('state');
      store.set({ query: '' });
      document.getElementById('search')?.blur();
    },
    filter: (part) => store.set(({ filter }) => ({ filter: { ...filter, ...part } })),
    asOf: (asOf) => store.set({ asOf, travelling: true }),
    travel: (travelling) => store.set({ travelling, menu: null, ...(travelling ? {} : { asOf: null }) }),
    drawing: (drawing) => store.set({ drawing }),
    fit: () => live.panel?.view.fit(),
    savePicture: (kind) => void guarded(async () => {
      store.set({ menu: null });
      const { view } = live.panel ?? {};
      const name = store.get().forest?.name ?? 'forest';
      const blob = view && (kind === 'svg' ? new Blob([await view.toSvg(name)], { type: 'image/svg+xml' }) : await view.toPng());
      if (!blob) return toast('The browser didn’t give the picture.');
      const link = document.createElement('a');
      link.href = URL.createObjectURL(blob);
      link.download = `${name}.${kind}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    }),
    stateMenu: (stateMenu) => store.set({ stateMenu, menu: null }),
    allCandidates: () => store.set(({ allCandidates }) => ({ allCandidates: !allCandidates })),

    menu: (menu) => store.set({ menu }),
    dialog: (dialog) => store.set({ dialog, menu: null }),
    drawer: (drawer) => store.set({ drawer }),
    phoneTab: (phoneTab) => store.set({ phoneTab, menu: null }),
    fold(panel, folded) {
      store.set((state) => ({ folded: { ...state.folded, [panel]: folded }, menu: null, ...(panel === 'inspector' && folded ? { drawer: false } : {}) }));
      keepSetting('folded', JSON.stringify(store.get().folded));
    },
    resize(panel, width) {
      const state = store.get();
      store.set({ widths: { ...state.widths, [panel]: clampWidth(panel, width, state, innerWidth) } });
      keepSetting('widths', JSON.stringify(store.get().widths));
    },
    theme(theme) {
      store.set({ theme });
      applyTheme(theme);
    },
    newForest: (name) => void guarded(async () => {
      store.set({ dialog: null });
      const forest = await api.createForest(name, localZone());
      location.assign(`/forests/${forest.id}/`);
    }),
    rename: (name) => void guarded(async () => {
      const { forest } = store.get();
      store.set({ dialog: null });
      if (!forest) return;
      const renamed = await api.renameForest(forest.id, name);
      store.set(({ forests }) => ({ forest: renamed, forests: forests.map((one) => (one.id === renamed.id ? renamed : one)) }));
      document.title = `${renamed.name} · ArborWeb`;
    }),
    growSample: () => void guarded(async () => {
      store.set({ sample: { status: 'growing', done: 0, total: 0, message: '' } });
      try {
        const { forest, job } = await api.sampleForest();
        await api.setZone(forest.id, localZone());
        const ended = await waitFor(job);
        if (ended.status === 'failed') {
          const words = typeof ended.error === 'string' ? ended.error : ended.error?.message;
          store.set({ sample: { status: 'failed', done: 0, total: 0, message: words || 'The sample could not be grown. Try again.' } });
        } else location.assign(`/forests/${ended.forest ?? forest.id}/`);
      } catch (error) {
        store.set({ sample: { status: 'none', done: 0, total: 0, message: '' } });
        throw error;
      }
    }),
    importing: createImporting(store, live, toast),
    models: createModels(store, toast),
    correct: createCorrecting(store, live, toast),
    forget: createForgetting(store, live, toast, () => location.assign('/')),
    partCame: (here) => store.set(({ parts }) => (here ? { parts: parts + 1 } : { dialog: null, notice: { code: 'page', message: 'This part of the page didn’t come.', action: 'Check the connection and try again.' } })),
    dismissToast: () => store.set({ toast: null }),
    signOut() {
      const form = document.createElement('form');
      form.method = 'post';
      form.action = site.signOut;
      const token = document.createElement('input');
      token.type = 'hidden';
      token.name = 'csrfmiddlewaretoken';
      token.value = /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? '';
      form.append(token);
      document.body.append(form);
      form.submit();
    },
  };
  return actions;
}

function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}
