/** Fetches what the inspector and the search field show, whenever what they look at changes; late answers are dropped. */

import { api, ApiError } from './api';
import { troubleOf } from './conversation';
import { shownState, shownTurn, type AppState, type Loaded } from './state';
import type { Store } from './store';
import type { Item } from './types';

const SEARCH_DELAY = 150;
const HAS_TRACE = new Set(['answering', 'answered', 'refined', 'failed', 'interrupted', 'cancelled']);

/** What stands in the store by itself, and what stands in its part about corrections. */
const OWN = ['trace', 'detail', 'evidence', 'history', 'series', 'uses'] as const;
const CORRECTING = ['comparison', 'moves', 'changes'] as const;
type LoadedKey = (typeof OWN)[number] | (typeof CORRECTING)[number];

export class Explorer {
  private readonly tickets = Object.fromEntries([...OWN, ...CORRECTING].map((key) => [key, ''])) as Record<LoadedKey, string>;
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
    const { compared } = state.correcting;
    const turnId = state.inspectedTurn ?? turn?.id ?? '';
    return [
      state.tab, turnId, turn?.status ?? '', turn?.state ?? '', state.selected ?? '', row?.pending ?? '', row?.replaced ?? '',
      state.slot ? `${state.slot.kind}${state.slot.id}` : '', state.evidenceScope, state.pending === 0, state.states.size, state.asOf ?? '', state.revised,
      compared ? `${compared.turn}/${compared.state}` : '', row?.parent ?? '',
    ].join('|');
  }

  private load(): void {
    const state = this.store.get();
    if (state.tab === 'why') this.loadTrace(state);
    const { revised } = state;
    const id = shownState(state);
    if (state.tab === 'state' && id !== null && state.states.has(id)) {
      const row = state.states.get(id);
      void this.fetch('detail', `${id}|${row?.pending}|${row?.replaced}|${row?.parent}|${revised}`, `${id}|`, () => api.state(id));
      void this.fetch('moves', `${id}|${row?.parent}|${revised}`, `${id}|`, () => api.moves(id));
    }
    if (state.tab === 'evidence') this.loadEvidence(state);
    if (state.tab === 'health') {
      void this.refreshForest();
      void this.fetch('series', `|${state.states.size}|${state.pending === 0}|${revised}`, '|', () => api.health(this.forest));
      void this.fetch('changes', `|${revised}`, '|', async () => {
        const page = await api.changes(this.forest);
        return { list: page.results, next: page.next };
      });
    }
  }

  /** One value through time, or all that is remembered; at the moment that is travelled to. */
  private loadEvidence(state: AppState): void {
    const { revised, asOf } = state;
    if (state.slot) {
      const { kind, id } = state.slot;
      void this.fetch('history', `${kind}${id}|${state.states.size}|${state.pending}|${revised}|${asOf}`, `${kind}${id}|`, () => this.valuesOf(kind, id, asOf));
      // What a deletion would say of it is also where it was used; nothing is deleted by asking.
      void this.fetch('uses', `${kind}${id}|${state.states.size}|${revised}`, `${kind}${id}|`, async () => {
        const preview = await api.forget(`items/${kind}/${id}/`, { preview: 1 });
        return { list: preview?.used_by ?? [], count: preview?.counts['used_by'] ?? 0 };
      });
      return;
    }
    const of = state.evidenceScope === 'turn' && state.selected !== null ? state.selected : null;
    const row = of === null ? undefined : state.states.get(of);
    const mark = `${row?.pending}|${row?.replaced}|${of === null ? `${state.states.size}${state.pending}` : ''}|${revised}|${asOf}`;
    void this.fetch('evidence', `${of}|${mark}`, `${of}|`, () => this.evidenceOf(of, asOf));
  }

  private loadTrace(state: AppState): void {
    const turn = shownTurn(state);
    const id = state.inspectedTurn ?? turn?.id ?? null;
    if (id === null || (turn && !HAS_TRACE.has(turn.status))) {
      this.tickets.trace = '';
      this.store.set({ trace: { status: 'none' } });
      return;
    }
    // What a correction changed of a trace is read with it.
    const own = [...state.states.values()].find((row) => row.turn === id);
    void this.fetch('trace', `${id}|${turn?.status ?? ''}|${own?.parent}|${state.revised}`, `${id}|`, () => api.trace(id));
    const { compared } = state.correcting;
    if (compared && compared.turn === id) {
      void this.fetch('comparison', `${id}/${compared.state}|${state.revised}`, `${id}/${compared.state}|`, () => api.compare(id, compared.state));
    } else this.tickets.comparison = '';
  }

  /** Fetch under a ticket. While the same thing is fetched anew its old view stays. */
  private async fetch<K extends LoadedKey>(key: K, ticket: string, subject: string, get: () => Promise<unknown>): Promise<void> {
    const before = this.tickets[key];
    if (before === ticket) return;
    this.tickets[key] = ticket;
    const put = (loaded: Loaded<unknown>) =>
      (CORRECTING as readonly string[]).includes(key)
        ? this.store.set(({ correcting }) => ({ correcting: { ...correcting, [key]: loaded } }))
        : this.store.set({ [key]: loaded } as unknown as Partial<AppState>);
    if (!before.startsWith(subject)) {
      put({ status: 'loading' });
      if (key === 'trace') this.store.set({ openCandidates: new Set(), allCandidates: false });
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

  private async evidenceOf(state: number | null, asOf: number | null): Promise<Item[]> {
    const filter = { ...(state === null ? { status: 'current' } : { state, status: 'all' }), ...(asOf === null ? {} : { as_of: asOf }) };
    const [facts, records] = await Promise.all([api.facts(this.forest, filter), api.records(this.forest, filter)]);
    return [...facts, ...records];
  }

  /** All values of the slot that an item belongs to, the item itself when it has none. */
  private async valuesOf(kind: Item['kind'], id: number, asOf: number | null): Promise<Item[]> {
    const then = asOf === null ? {} : { as_of: asOf };
    const list = (filter: { slot: string }) =>
      kind === 'fact' ? api.facts(this.forest, { status: 'all', ...filter, ...then }) : api.records(this.forest, { status: 'all', kind, ...filter, ...then });
    try {
      const item = await api.item(kind, id);
      return item.slot ? await list({ slot: item.slot }) : asOf === null || item.known_from <= asOf ? [item] : [];
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
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
