/** Fetches what the inspector and the search field show, whenever what they look at changes; late answers are dropped. */

import { api } from './api';
import { troubleOf } from './conversation';
import { shownState, shownTurn, type AppState, type Loaded } from './state';
import type { Store } from './store';
import type { Item } from './types';

const SEARCH_DELAY = 150;
const HAS_TRACE = new Set(['answering', 'answered', 'refined', 'failed', 'interrupted', 'cancelled']);

type LoadedKey = 'trace' | 'detail' | 'evidence' | 'history';

export class Explorer {
  private readonly tickets: Record<LoadedKey, string> = { trace: '', detail: '', evidence: '', history: '' };
  private searchTimer: ReturnType<typeof setTimeout> | undefined;
  private searching: AbortController | undefined;

  constructor(private readonly store: Store<AppState>, private readonly forest: number) {
    store.watch((state) => this.needs(state), () => this.load());
    store.watch((state) => state.query, (query) => this.search(query));
    this.load();
  }

  /** What is looked at, as one string: when it changes something has to be fetched. */
  private needs(state: AppState): string {
    const turn = shownTurn(state);
    const shown = shownState(state);
    const row = shown === null ? undefined : state.states.get(shown);
    const turnId = state.inspectedTurn ?? turn?.id ?? '';
    return [
      state.tab, turnId, turn?.status ?? '', turn?.state ?? '', state.selected ?? '', row?.pending ?? '', row?.replaced ?? '',
      state.slot ? `${state.slot.kind}${state.slot.id}` : '', state.evidenceScope, state.pending === 0, state.states.size,
    ].join('|');
  }

  private load(): void {
    const state = this.store.get();
    if (state.tab === 'why') this.loadTrace(state);
    const id = shownState(state);
    if (state.tab === 'state' && id !== null && state.states.has(id)) {
      const row = state.states.get(id);
      void this.fetch('detail', `${id}|${row?.pending}|${row?.replaced}`, `${id}|`, () => api.state(id));
    }
    if (state.tab === 'evidence' && state.slot) {
      const { kind, id } = state.slot;
      void this.fetch('history', `${kind}${id}|${state.states.size}|${state.pending}`, `${kind}${id}|`, () => this.valuesOf(kind, id));
    } else if (state.tab === 'evidence') {
      const of = state.evidenceScope === 'turn' && state.selected !== null ? state.selected : null;
      const row = of === null ? undefined : state.states.get(of);
      void this.fetch('evidence', `${of}|${row?.pending}|${row?.replaced}|${of === null ? `${state.states.size}${state.pending}` : ''}`, `${of}|`, () => this.evidenceOf(of));
    }
    if (state.tab === 'health') void this.refreshForest();
  }

  private loadTrace(state: AppState): void {
    const turn = shownTurn(state);
    const id = state.inspectedTurn ?? turn?.id ?? null;
    if (id === null || (turn && !HAS_TRACE.has(turn.status))) {
      this.tickets.trace = '';
      this.store.set({ trace: { status: 'none' } });
      return;
    }
    void this.fetch('trace', `${id}|${turn?.status ?? ''}`, `${id}|`, () => api.trace(id));
  }

  /** Fetch under a ticket. While the same thing is fetched anew its old view stays. */
  private async fetch<K extends LoadedKey>(key: K, ticket: string, subject: string, get: () => Promise<unknown>): Promise<void> {
    const before = this.tickets[key];
    if (before === ticket) return;
    this.tickets[key] = ticket;
    const put = (loaded: Loaded<unknown>) => this.store.set({ [key]: loaded } as unknown as Partial<AppState>);
    if (!before.startsWith(subject)) {
      put({ status: 'loading' });
      if (key === 'trace') this.store.set({ openCandidates: new Set() });
    }
    this.store.set(({ busy }) => ({ busy: busy + 1 }));
    try {
      const value = await get();
      if (this.tickets[key] === ticket) put({ status: 'here', value });
    } catch (error) {
      if (this.tickets[key] === ticket) {
        this.tickets[key] = '';
        put({ status: 'failed', trouble: troubleOf(error) });
      }
    } finally {
      this.store.set(({ busy }) => ({ busy: busy - 1 }));
    }
  }

  private async evidenceOf(state: number | null): Promise<Item[]> {
    const filter = state === null ? { status: 'current' } : { state, status: 'all' };
    const [facts, records] = await Promise.all([api.facts(this.forest, filter), api.records(this.forest, filter)]);
    return [...facts, ...records];
  }

  /** All values of the slot that an item belongs to, the item itself when it has none. */
  private async valuesOf(kind: Item['kind'], id: number): Promise<Item[]> {
    const list = (filter: { state?: number; slot?: string }) =>
      kind === 'fact' ? api.facts(this.forest, { status: 'all', ...filter }) : api.records(this.forest, { status: 'all', kind, ...filter });
    const known = [this.store.get().evidence, this.store.get().history].flatMap((loaded) => (loaded.status === 'here' ? loaded.value : []));
    const hint = this.store.get().slotState;
    const find = (items: Item[]) => items.find((item) => item.id === id && item.kind === kind);
    const item = find(known) ?? find(await list(hint === null ? {} : { state: hint })) ?? (hint === null ? undefined : find(await list({})));
    if (!item) return [];
    return item.slot ? await list({ slot: item.slot }) : [item];
  }

  private async refreshForest(): Promise<void> {
    try {
      const forest = await api.forest(this.forest);
      this.store.set({ forest });
    } catch {
      // The numbers shown stay as they were.
    }
  }

  private search(query: string): void {
    clearTimeout(this.searchTimer);
    this.searching?.abort();
    if (!query.trim()) return this.store.set({ hits: null, hitAt: -1 });
    this.searchTimer = setTimeout(async () => {
      const controller = new AbortController();
      this.searching = controller;
      try {
        const hits = await api.search(this.forest, query.trim().slice(0, 200), controller.signal);
        if (!controller.signal.aborted) this.store.set({ hits, hitAt: -1 });
      } catch (error) {
        if (!controller.signal.aborted) this.store.set({ hits: [], notice: troubleOf(error) });
      }
    }, SEARCH_DELAY);
  }
}
