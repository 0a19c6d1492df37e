/** The REST half of the network (docs/interfaces.md). Every call resolves with the answer or throws an `ApiError`. */

import type { Typed } from './models/models';
import type {
  ApiErrorBody, Change, Comparison, Forest, ForgetAsked, Forgotten, Item, Job, Me, Models, ModelsTested, MovePreview, MoveRecord, Page, SearchHit, Series, StateDetail, StatesPage, Trace, Turn,
} from './types';

/** An answer that isn't one, in words for a person. `status` 0: nothing was reached. */
export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly action: string) {
    super(message);
    this.name = 'ApiError';
  }
}

const LOST = 'The server can’t be reached.';

export function csrfToken(): string {
  return /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? '';
}

async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (method !== 'GET') headers['X-CSRFToken'] = csrfToken();
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const init: RequestInit = { method, headers, credentials: 'same-origin' };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal) init.signal = signal;
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', LOST, 'Check the connection; the page tries again by itself.');
  }
  if (response.status === 204) return undefined as T;
  const data: unknown = await response.json().catch(() => null);
  if (response.ok && data !== null) return data as T;
  throw problemOf(response.status, data);
}

/** What an answer that is none says. */
export function problemOf(status: number, data: unknown): ApiError {
  const problem = (data as { error?: ApiErrorBody } | null)?.error;
  return new ApiError(
    status,
    problem?.code ?? 'unavailable',
    problem ? [problem.message, ...Object.values(problem.fields ?? {}).flat()].join(' ') : 'The server gave no usable answer.',
    problem?.action ?? 'Try again in a moment.',
  );
}

const query = (params: Record<string, string | number | null | undefined>): string => {
  const pairs = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return pairs.length ? '?' + new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString() : '';
};

export interface Placement {
  parent?: number;
  new_root?: true;
  /** Beside this turn, whose text was edited. */
  edit_of?: number;
  /** Although it asks to forget something. */
  as_turn?: true;
}

/** Where a state goes. */
export type Destination = { parent: number } | { new_root: true };
export const destination = (parent: number | null): Destination => (parent === null ? { new_root: true } : { parent });

export type Revision = { do: 'retract' | 'restore' | 'pin' | 'unpin' | 'quarantine' } | { do: 'edit'; text: string };

interface ItemFilter {
  state?: number;
  slot?: string;
  status?: string;
  kind?: string;
  limit?: number;
  /** What was known at this position. */
  as_of?: number;
}

/** Where a forest, or the path to one of its states, is to be had as Markdown. */
export const markdownOf = (forest: number, state?: number): string => `/api/forests/${forest}/export/${query({ format: 'markdown', state })}`;

export const api = {
  me: () => request<Me>('GET', 'me/'),
  models: () => request<Models>('GET', 'model/'),
  connectModel: (typed: Typed) => request<Models>('PUT', 'model/connection/', typed),
  disconnectModel: () => request<Models>('DELETE', 'model/connection/'),
  testModels: (typed: Partial<Typed> & { list_only?: true }) => request<ModelsTested>('POST', 'model/test/', typed),
  chooseModel: (forest: number, answer_model: string) => request<Forest>('PATCH', `forests/${forest}/`, { answer_model }),
  forests: async () => (await request<Page<Forest>>('GET', 'forests/?limit=200')).results,
  forest: (id: number) => request<Forest>('GET', `forests/${id}/`),
  createForest: (name: string, time_zone: string) => request<Forest>('POST', 'forests/', { name, time_zone }),
  renameForest: (id: number, name: string) => request<Forest>('PATCH', `forests/${id}/`, { name }),
  deleteForest: (id: number) => request<void>('DELETE', `forests/${id}/`),
  setZone: (id: number, time_zone: string) => request<Forest>('PATCH', `forests/${id}/`, { time_zone }),
  sampleForest: () => request<{ forest: Forest; job: Job }>('POST', 'forests/sample/', {}),
  job: (id: number) => request<Job>('GET', `jobs/${id}/`),
  latestImport: async (forest: number) => (await request<Page<Job>>('GET', `jobs/${query({ forest, kind: 'import', limit: 1 })}`)).results[0] ?? null,

  turns: (forest: number, before?: string | number | null) =>
    request<Page<Turn>>('GET', `forests/${forest}/turns/${query({ limit: 50, before })}`),
  turn: (id: number) => request<Turn>('GET', `turns/${id}/`),
  sendTurn: (forest: number, client_id: string, text: string, placement: Placement) =>
    request<Turn | { forget: ForgetAsked }>('POST', `forests/${forest}/turns/`, { text, client_id, ...placement }),
  retryTurn: (id: number) => request<Turn>('POST', `turns/${id}/retry/`, {}),
  cancelTurn: (id: number) => request<Turn>('POST', `turns/${id}/cancel/`, {}),
  keepTurn: (id: number) => request<Turn>('POST', `turns/${id}/keep/`, {}),
  dropTurn: (id: number) => request<void>('DELETE', `turns/${id}/`),
  trace: (turn: number) => request<Trace>('GET', `turns/${turn}/trace/`),

  /** All states after a position, in windows of 5,000; the answer is one page with every row. */
  async states(forest: number, after?: number): Promise<StatesPage> {
    let page = await request<StatesPage>('GET', `forests/${forest}/states/${query({ limit: 5000, after })}`);
    const rows = [...page.results];
    const trees = new Map(page.trees.map((tree) => [tree.root, tree]));
    while (page.next !== null) {
      page = await request<StatesPage>('GET', `forests/${forest}/states/${query({ limit: 5000, after: page.next })}`);
      rows.push(...page.results);
      for (const tree of page.trees) trees.set(tree.root, tree);
    }
    return { ...page, results: rows, trees: [...trees.values()] };
  },
  state: (id: number) => request<StateDetail>('GET', `states/${id}/`),
  facts: async (forest: number, filter: ItemFilter) =>
    (await request<Page<Item>>('GET', `forests/${forest}/facts/${query({ limit: 200, ...filter })}`)).results,
  records: async (forest: number, filter: ItemFilter) =>
    (await request<Page<Item>>('GET', `forests/${forest}/records/${query({ limit: 200, ...filter })}`)).results,
  item: (kind: Item['kind'], id: number) => request<Item>('GET', `items/${kind}/${id}/`),
  revise: (kind: Item['kind'], id: number, what: Revision) => request<Item & { change?: number | null }>('POST', `items/${kind}/${id}/revise/`, what),

  compare: (turn: number, state: number) => request<Comparison>('GET', `turns/${turn}/candidates/${state}/`),
  previewMove: (state: number, to: Destination) => request<MovePreview>('POST', `states/${state}/move/?preview=1`, to),
  move: (state: number, to: Destination) => request<{ change: number | null }>('POST', `states/${state}/move/`, to),
  moves: async (state: number) => (await request<Page<MoveRecord>>('GET', `states/${state}/moves/`)).results,
  moveAll: (forest: number, moves: { state: number; parent: number | null }[]) => request<{ moved: number; change: number | null }>('POST', `forests/${forest}/moves/`, { moves }),
  replay: (forest: number, after: number) => request<Job>('POST', `forests/${forest}/replay/`, { after }),
  /** The replay of a forest that is under way, if one is. */
  openReplay: async (forest: number) => (await request<Page<Job>>('GET', `jobs/${query({ forest, kind: 'replay', status: 'open', limit: 1 })}`)).results[0] ?? null,
  cancelJob: (id: number) => request<Job>('POST', `jobs/${id}/cancel/`, {}),
  changes: (forest: number, before?: string | number | null) => request<Page<Change>>('GET', `forests/${forest}/changes/${query({ before })}`),
  undo: (change: number) => request<Change>('POST', `changes/${change}/undo/`, {}),

  /** Delete what `path` names, or say what would go. */
  forget: (path: string, params: Record<string, string | number | null | undefined>, body?: unknown) => request<Forgotten | undefined>('DELETE', path + query(params), body),
  forgetting: (forest: number, text: string) => request<ForgetAsked>('POST', `forests/${forest}/forget/`, { text }),
  health: (forest: number) => request<Series>('GET', `forests/${forest}/health/`),
  search: async (forest: number, q: string, signal: AbortSignal) =>
    (await request<{ results: SearchHit[] }>('GET', `forests/${forest}/search/${query({ q, limit: 50 })}`, undefined, signal)).results,
};
