/** Everything the page knows, in one object. */

import type { Editing } from './chat/editor';
import { noCorrecting, type Correcting } from './correcting/correcting';
import { noFilter, type Filter } from './filtering/filtering';
import type { Forgetting } from './forgetting/forgetting';
import type { Connection } from './socket';
import type { ChatTurn } from './chat/turns';
import type { Drawing } from './forest/types';
import { noImport, type Importing } from './importing/importing';
import { noModels, type ModelsState } from './models/models';
import type { Decision, Forest, Item, Me, SearchHit, Series, StateDetail, StateRow, Trace, TreeRow, Trouble, Use } from './types';

export type Tab = 'why' | 'state' | 'evidence' | 'health';
export type PhoneTab = 'chat' | 'forest' | 'details';

/** Something asked of the server: being fetched, here, or missing with a reason. */
export type Loaded<T> = { status: 'none' } | { status: 'loading' } | { status: 'here'; value: T } | { status: 'failed'; trouble: Trouble };

/** Where the next turn goes. `auto`: the forest finds the place. */
export type Place = { kind: 'auto' } | { kind: 'branch' } | { kind: 'state'; state: number } | { kind: 'new' };

export interface Slot {
  key: string;
  kind: Item['kind'];
  id: number;
}

/** A word about what was just done, and the change it can be undone by. */
export interface Toast {
  words: string;
  change: number | null;
  /** Turns after this position may belong elsewhere now. */
  later: number | null;
}

export type Dialog = 'help' | 'messages' | 'rename' | 'new-forest' | 'import' | 'models' | 'move' | 'replay' | 'reword' | 'forget';

export interface AppState {
  me: Me | null;
  forests: Forest[];
  forest: Forest | null;
  /** What stopped the page from opening, if anything did. */
  fatal: Trouble | null;
  /** The first answers are here; before that nothing is claimed to be empty. */
  ready: boolean;
  /** Requests whose answer a person waits for. */
  busy: number;

  turns: ChatTurn[];
  earlier: string | number | null;
  loadingEarlier: boolean;
  /** Turns came in below that aren't shown, because an earlier one is being read. */
  newer: boolean;
  connection: Connection;
  place: Place;
  draftBytes: number;
  draftEmpty: boolean;
  editing: Editing | null;
  notice: Trouble | null;

  states: Map<number, StateRow>;
  trees: Map<number, TreeRow>;
  active: number | null;
  pending: number;
  /** States hidden in capsules. */
  folds: number;

  drawing: Drawing;
  selected: number | null;
  /** A path lit for as long as a crumb is pointed at. */
  preview: number | null;
  query: string;
  hits: SearchHit[] | null;
  hitAt: number;
  filter: Filter;
  /** A state in a hand over the drawing. */
  carried: number | null;
  /** The forest as it was at this position; null is now. */
  asOf: number | null;
  /** The slider through time is out. */
  travelling: boolean;

  tab: Tab;
  /** The turn whose trace is shown; null shows the latest. */
  inspectedTurn: number | null;
  trace: Loaded<Trace>;
  detail: Loaded<StateDetail>;
  slot: Slot | null;
  /** The state an item was pointed at from, if known: a short way to find it. */
  slotState: number | null;
  history: Loaded<Item[]>;
  evidence: Loaded<Item[]>;
  evidenceScope: 'turn' | 'all';
  openBlocks: ReadonlySet<string>;
  openCandidates: ReadonlySet<number>;
  /** Every place that was considered is listed, not only the likeliest. */
  allCandidates: boolean;
  series: Loaded<Series>;
  /** Answers that used the value looked at, and how many there are. */
  uses: Loaded<{ list: Use[]; count: number }>;
  /** Turns whose chips are all shown. */
  openChips: ReadonlySet<number>;
  /** Turns whose long text is shown whole. */
  openTexts: ReadonlySet<number>;
  /** Code can be shown in colour. */
  coloured: boolean;

  menu: string | null;
  /** The menu of a state in the drawing: whose, and where it opened. */
  stateMenu: { state: number; x: number; y: number } | null;
  dialog: Dialog | null;
  drawer: boolean;
  phoneTab: PhoneTab;
  folded: { chat: boolean; inspector: boolean };
  widths: { chat: number; inspector: number };
  theme: 'system' | 'light' | 'dark';
  sample: { status: 'none' | 'growing' | 'failed'; done: number; total: number; message: string };
  importing: Importing;
  models: ModelsState;
  correcting: Correcting;
  forgetting: Forgetting | null;
  /** Counts corrections and deletions done here: what is shown is read anew. */
  revised: number;
  /** Counts parts of the page that came later, so that it is drawn once more when one is here. */
  parts: number;
  announcement: string;
  toast: Toast | null;
}

export const initialState = (): AppState => ({
  me: null, forests: [], forest: null, fatal: null, ready: false, busy: 0,
  turns: [], earlier: null, loadingEarlier: false, newer: false, connection: 'connecting', place: { kind: 'auto' },
  draftBytes: 0, draftEmpty: true, editing: null, notice: null,
  states: new Map(), trees: new Map(), active: null, pending: 0, folds: 0,
  drawing: 'lanes', selected: null, preview: null, query: '', hits: null, hitAt: -1,
  filter: noFilter(), carried: null, asOf: null, travelling: false,
  tab: 'why', inspectedTurn: null, trace: { status: 'none' }, detail: { status: 'none' },
  slot: null, slotState: null, history: { status: 'none' }, evidence: { status: 'none' }, evidenceScope: 'turn',
  openBlocks: new Set(), openCandidates: new Set(), allCandidates: false, series: { status: 'none' }, uses: { status: 'none' }, openChips: new Set(), openTexts: new Set(), coloured: false,
  menu: null, stateMenu: null, dialog: null, drawer: false, phoneTab: 'chat',
  folded: { chat: false, inspector: false }, widths: { chat: 392, inspector: 424 }, theme: 'system',
  sample: { status: 'none', done: 0, total: 0, message: '' }, importing: noImport(), models: noModels(),
  correcting: noCorrecting(), forgetting: null, revised: 0, parts: 0, announcement: '', toast: null,
});

/** The states from the root down to `id`. */
export function pathTo(states: ReadonlyMap<number, StateRow>, id: number | null): number[] {
  const path: number[] = [];
  for (let at = id === null ? undefined : states.get(id); at; at = at.parent === null ? undefined : states.get(at.parent)) {
    path.push(at.id);
    if (path.length > states.size) break;
  }
  return path.reverse();
}

/** "Goes to Kitchen, Extractor hood, 91 % sure." */
export function placeWords(state: AppState, decision: Decision): string {
  const parent = decision.parent === null ? undefined : state.states.get(decision.parent);
  if (!parent) return 'Starts a new topic.';
  const topic = state.trees.get(parent.root)?.topic ?? '';
  const name = topic && topic !== parent.label ? `${topic}, ${parent.label}` : parent.label;
  if (decision.method === 'given') return `Goes to ${name}, as you chose.`;
  return `Goes to ${name}, ${Math.round(decision.probability * 100)} % sure.`;
}

/** The turn whose trace is shown: the one chosen, else the latest. */
export function shownTurn(state: AppState): ChatTurn | null {
  if (state.inspectedTurn !== null) return state.turns.find((turn) => turn.id === state.inspectedTurn) ?? null;
  return state.turns.findLast((turn) => turn.id !== null) ?? null;
}

/** The state whose content is shown: the selected one, else that of the turn shown. */
export const shownState = (state: AppState): number | null => state.selected ?? shownTurn(state)?.state ?? null;

/** Nothing planted yet: the page shows what it is for instead of empty panels. */
export const isFirstVisit = (state: AppState): boolean => state.ready && state.turns.length === 0 && state.states.size === 0;
