/** What a person wrote and the server doesn't have yet, kept in this browser per forest: the draft, unsent turns, edits begun. */

import type { Placement } from '../api';

export interface Unsent {
  client_id: string;
  text: string;
  sent_at: string;
  placement: Placement;
}

const draftKey = (forest: number | null) => `arborweb.draft.${forest ?? 'first'}`;
const unsentKey = (forest: number) => `arborweb.unsent.${forest}`;
const editsKey = (forest: number) => `arborweb.edits.${forest}`;

/** Storage can be full or forbidden; then the page works without. */
function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

export const readDraft = (forest: number | null): string => attempt(() => localStorage.getItem(draftKey(forest)) ?? '', '');

export const keepDraft = (forest: number | null, text: string): void =>
  attempt(() => (text ? localStorage.setItem(draftKey(forest), text) : localStorage.removeItem(draftKey(forest))), undefined);

export const readUnsent = (forest: number): Unsent[] =>
  attempt(() => JSON.parse(localStorage.getItem(unsentKey(forest)) ?? '[]') as Unsent[], []);

function writeUnsent(forest: number, list: Unsent[]): void {
  attempt(() => (list.length ? localStorage.setItem(unsentKey(forest), JSON.stringify(list)) : localStorage.removeItem(unsentKey(forest))), undefined);
}

export const keepUnsent = (forest: number, turn: Unsent): void =>
  writeUnsent(forest, [...readUnsent(forest).filter((kept) => kept.client_id !== turn.client_id), turn]);

export const forgetUnsent = (forest: number, client_id: string): void =>
  writeUnsent(forest, readUnsent(forest).filter((kept) => kept.client_id !== client_id));

/** Edits begun: the changed text of each turn, and the turn whose field is open. */
interface Edits {
  open: number | null;
  texts: Record<string, string>;
}

const readEdits = (forest: number): Edits =>
  attempt(() => JSON.parse(localStorage.getItem(editsKey(forest)) ?? 'null') as Edits | null, null) ?? { open: null, texts: {} };

export const readEdit = (forest: number, turn: number): string | null => readEdits(forest).texts[turn] ?? null;
export const readOpenEdit = (forest: number): number | null => readEdits(forest).open;

function writeEdits(forest: number, edits: Edits): void {
  const some = edits.open !== null || Object.keys(edits.texts).length > 0;
  attempt(() => (some ? localStorage.setItem(editsKey(forest), JSON.stringify(edits)) : localStorage.removeItem(editsKey(forest))), undefined);
}

/** Keep the changed text of a turn, null when it is as it was, and whether its field is open. */
export function keepEdit(forest: number, turn: number, text: string | null, open: boolean): void {
  const { texts } = readEdits(forest);
  if (text === null) delete texts[turn];
  else texts[turn] = text;
  writeEdits(forest, { open: open ? turn : null, texts });
}

/** Of turns that were deleted nothing is kept here either: only edits of those that are there. */
export function keepEditsOf(forest: number, there: ReadonlySet<number>): void {
  const { open, texts } = readEdits(forest);
  const left = Object.entries(texts).filter(([turn]) => there.has(Number(turn)));
  if (left.length < Object.keys(texts).length || (open !== null && !there.has(open))) {
    writeEdits(forest, { open: open !== null && there.has(open) ? open : null, texts: Object.fromEntries(left) });
  }
}

/** A forest was deleted, or with null everything of a person: what was written for it goes. */
export function forgetWritten(forest: number | null): void {
  const keys = attempt(() => Object.keys(localStorage), []).filter((key) => /^arborweb\.(?:draft|unsent|edits)\./.test(key));
  for (const key of keys) if (forest === null || key.endsWith(`.${forest}`)) attempt(() => localStorage.removeItem(key), undefined);
}

export const readSetting = (name: string): string | null => attempt(() => localStorage.getItem(`arborweb.${name}`), null);
export const keepSetting = (name: string, value: string): void => attempt(() => localStorage.setItem(`arborweb.${name}`, value), undefined);
