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

/** Keep the changed text of a turn, null when it is as it was, and whether its field is open. */
export function keepEdit(forest: number, turn: number, text: string | null, open: boolean): void {
  const { texts } = readEdits(forest);
  if (text === null) delete texts[turn];
  else texts[turn] = text;
  const edits: Edits = { open: open ? turn : null, texts };
  attempt(() => (open || Object.keys(texts).length ? localStorage.setItem(editsKey(forest), JSON.stringify(edits)) : localStorage.removeItem(editsKey(forest))), undefined);
}

export const readSetting = (name: string): string | null => attempt(() => localStorage.getItem(`arborweb.${name}`), null);
export const keepSetting = (name: string, value: string): void => attempt(() => localStorage.setItem(`arborweb.${name}`, value), undefined);
