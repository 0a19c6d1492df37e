/** The page starts here: who is it, which forest, then the panels over one store. */

import './styles/app.css';
import { render } from 'lit-html';
import { createActions, type Live } from './controller';
import { api, ApiError } from './api';
import { grow } from './chat/composer';
import { readDraft, readSetting } from './chat/draft';
import { whenColoured } from './chat/highlight';
import { utf8Bytes } from './chat/bytes';
import { Conversation, troubleOf } from './conversation';
import { Explorer } from './explorer';
import { noFilter } from './filtering/filtering';
import { installDrop } from './importing/drop';
import { page, type Hooks } from './shell/page';
import { ForestPanel } from './shell/forest-panel';
import { installHoverCard } from './shell/hover-card';
import { installKeys } from './shell/keys';
import { clampWidth } from './shell/resize';
import { readTheme } from './shell/theme';
import { readView, writeView, type View } from './shell/url';
import { initialState, type AppState } from './state';
import { createStore } from './store';

const root = document.getElementById('app')!;
const store = createStore<AppState>(initialState());
const live: Live = { conversation: null, panel: null, area: null, turns: null };
const actions = createActions(store, live, { signOut: root.dataset['signOut'] ?? '/sign-out/', open });

/* --- Drawing the page: at most once a frame. --- */

let scheduled = false;
let stuck = true;
/** Earlier turns came in above: the eye stays on what it read. */
let grewAbove = false;
const NEAR_END = 80;

const hooks: Hooks = {
  turns(element) {
    if (live.turns === element) return;
    live.turns = (element as HTMLElement | undefined) ?? null;
    live.turns?.addEventListener('scroll', () => {
      const box = live.turns!;
      stuck = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END;
    }, { passive: true });
  },
  area(element) {
    if (live.area === element) return;
    live.area = (element as HTMLTextAreaElement | undefined) ?? null;
  },
  forest(element) {
    forestBox ??= (element as HTMLElement | undefined) ?? null;
  },
};
let forestBox: HTMLElement | null = null;

function draw(): void {
  scheduled = false;
  const before = live.turns?.scrollHeight ?? 0;
  const state = store.get();
  render(page(state, inspectorWidth(state), actions, hooks), root);
  const app = root.firstElementChild as HTMLElement;
  app.style.setProperty('--chat-width', `${state.widths.chat}px`);
  app.style.setProperty('--inspector-width', `${state.widths.inspector}px`);
  // Only now is the box in the document, where its colours and size can be read.
  if (forestBox && !live.panel) live.panel = new ForestPanel(store, forestBox, actions, keepView);
  const box = live.turns;
  if (!box || state.turns.length === 0) return;
  if (stuck) box.scrollTop = box.scrollHeight;
  else if (box.scrollTop < NEAR_END && box.scrollHeight > before && before > 0 && grewAbove) box.scrollTop += box.scrollHeight - before;
  grewAbove = false;
}

store.watch((state) => state.turns[0]?.id ?? null, (_, before) => (grewAbove = before !== null));
// What is said leads to the end; what an import brings doesn't.
store.watch((state) => state.turns.at(-1)?.client_id ?? '', () => (stuck ||= store.get().turns.at(-1)?.origin === 'chat'));
store.watch((state) => state.newer, (newer) => (stuck ||= !newer));

function inspectorWidth(state: AppState): number {
  if (innerWidth < 900) return innerWidth + 16;
  return innerWidth < 1200 ? Math.min(424, innerWidth) : state.widths.inspector;
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(draw);
}

store.watch((state) => state, schedule);
addEventListener('resize', () => {
  store.set((state) => ({
    widths: { chat: clampWidth('chat', state.widths.chat, state, innerWidth), inspector: clampWidth('inspector', state.widths.inspector, state, innerWidth) },
  }));
  schedule();
});

/* --- The view in the address. --- */

let keeping: ReturnType<typeof setTimeout> | undefined;
function keepView(): void {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    const state = store.get();
    if (!state.ready || !live.panel) return;
    const hash = writeView(state, state.states.size ? live.panel.camera() : null);
    if (hash !== location.hash) history.replaceState(null, '', location.pathname + hash);
  }, 250);
}
for (const pick of [(s: AppState) => s.selected, (s: AppState) => s.inspectedTurn, (s: AppState) => s.slot, (s: AppState) => s.tab, (s: AppState) => s.drawing, (s: AppState) => s.query, (s: AppState) => s.dialog, (s: AppState) => s.asOf, (s: AppState) => s.filter]) {
  store.watch<unknown>(pick, keepView);
}

function showView(view: View): void {
  const { states } = store.get();
  if (view.drawing) store.set({ drawing: view.drawing });
  if (view.query) actions.search(view.query);
  if (view.state !== undefined && states.has(view.state)) actions.select(view.state, { center: !view.camera });
  if (view.turn !== undefined) actions.inspectTurn(view.turn);
  if (view.item) void showItem(view.item);
  if (view.asOf !== undefined) actions.asOf(view.asOf);
  else if (store.get().asOf !== null) actions.travel(false);
  actions.filter(view.filter ?? noFilter());
  if (view.tab && !view.item) actions.tab(view.tab);
  if (view.camera) live.panel?.view.setCamera(view.camera);
  if (view.dialog) actions.importing.open();
}
/** A linked value is shown with the turn it comes from, chosen and in the middle. */
async function showItem({ kind, id }: NonNullable<View['item']>): Promise<void> {
  const item = await api.item(kind, id).catch(() => null);
  actions.inspectItem(kind, id, item?.state ?? null);
}
addEventListener('hashchange', () => showView(readView(location.hash)));

/* --- Opening. --- */

/** Open a forest: its turns and states, then the socket. */
async function open(id: number): Promise<Conversation> {
  const forest = await api.forest(id);
  store.set({ forest });
  document.title = `${forest.name} · ArborWeb`;
  if (!live.panel) await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const conversation = new Conversation(store, id, live.panel!, (announcement) => store.set({ announcement }), () => stuck, actions.forget.asked);
  live.conversation = conversation;
  await conversation.start();
  new Explorer(store, id);
  await actions.importing.find(id);
  return conversation;
}

function restoreDraft(forest: number | null): void {
  const text = readDraft(forest);
  if (!text || !live.area || live.area.value) return;
  live.area.value = text;
  grow(live.area);
  store.set({ draftBytes: utf8Bytes(text), draftEmpty: text.trim() === '' });
}

async function boot(): Promise<void> {
  const theme = readTheme();
  const widths = JSON.parse(readSetting('widths') ?? 'null') as AppState['widths'] | null;
  const folded = JSON.parse(readSetting('folded') ?? 'null') as AppState['folded'] | null;
  store.set({ theme, ...(widths ? { widths } : {}), ...(folded ? { folded } : {}) });
  draw();
  const view = readView(location.hash);
  const [me, forests] = await Promise.all([api.me(), api.forests()]);
  store.set({ me, forests });
  void actions.models.refresh();
  const asked = Number(root.dataset['forest']) || null;
  const last = Number(readSetting('forest')) || null;
  const id = asked ?? forests.find((forest) => forest.id === last)?.id ?? forests[0]?.id ?? null;
  if (id !== null) {
    await open(id);
    if (!asked) history.replaceState(null, '', `/forests/${id}/${location.hash}`);
    actions.remember(id);
    actions.reopenEdit();
  }
  store.set({ ready: true });
  draw();
  restoreDraft(id);
  requestAnimationFrame(() => {
    showView(view);
    if (innerWidth >= 900 && view.state === undefined && view.turn === undefined && !view.item) live.area?.focus({ preventScroll: true });
  });
}

whenColoured(() => store.set({ coloured: true }));
installHoverCard();
installKeys(store, actions, live);
installDrop(store, actions.importing);
boot().catch((error: unknown) => {
  const trouble = troubleOf(error);
  if (error instanceof ApiError && error.status === 401) location.assign(`${root.dataset['signIn'] ?? '/sign-in/'}?next=${encodeURIComponent(location.pathname)}`);
  else store.set({ fatal: trouble });
  if (!(error instanceof ApiError)) console.error(error);
});
