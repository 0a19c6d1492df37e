import { describe, expect, it } from 'vitest';
import type { ServerMessage, Turn } from '../types';
import { apply, codePoints, editedFrom, editsOf, fromServer, merge, present, written, type ChatTurn } from './turns';

const NOW = '2026-03-02T09:31:00Z';
const turn = (part: Partial<Turn> = {}): Turn => ({
  id: 7, client_id: 'c-1', origin: 'chat', status: 'answering', text: 'Where does the oven go?', answer: '', partial: '', seq: 3, state: null,
  sent_at: NOW, answered_at: null, refined_at: null, error: null, crumb: [], decision: null, chips: [], edited_from: null, ...part,
});
const after = (turns: ChatTurn[], ...messages: ServerMessage[]) => messages.reduce((list, message) => apply(list, message, NOW).turns, turns);

describe('turns', () => {
  it('gives a written turn its id when the server accepts it', () => {
    const [only] = after([written('c-1', 'Hello', NOW, {})], { type: 'turn.accepted', turn: 7, seq: 1, client_id: 'c-1', text: 'Hello' });
    expect(only).toMatchObject({ id: 7, status: 'received', text: 'Hello' });
  });

  it('adds a turn that another tab sent', () => {
    const list = after([], { type: 'turn.accepted', turn: 9, seq: 1, client_id: 'c-9', text: 'From the other tab' });
    expect(list.map((one) => one.text)).toEqual(['From the other tab']);
  });

  it('appends words and counts them in code points, as the server does', () => {
    const list = after([fromServer(turn())],
      { type: 'turn.delta', turn: 7, seq: 4, text: 'An oak 🌳', offset: 0 },
      { type: 'turn.delta', turn: 7, seq: 5, text: ' here', offset: 8 });
    expect(list[0]!.partial).toBe('An oak 🌳 here');
    expect(codePoints('An oak 🌳')).toBe(8);
  });

  it('writes over words that are sent again, and asks for the turn when some are missing', () => {
    const start = [fromServer(turn({ partial: 'The sink stays' }))];
    expect(after(start, { type: 'turn.delta', turn: 7, seq: 9, text: 'sink moves', offset: 4 })[0]!.partial).toBe('The sink moves');
    const gap = apply(start, { type: 'turn.delta', turn: 7, seq: 9, text: 'later', offset: 90 }, NOW);
    expect(gap.refetch).toBe(7);
    expect(gap.turns[0]!.partial).toBe('The sink stays');
  });

  it('holds words back until the forest has shown the path', () => {
    const decision = { method: 'recall', parent: 20, root: 3, probability: 0.91, unsure: false } as const;
    const [only] = after([fromServer(turn())], { type: 'turn.localized', turn: 7, seq: 4, decision, path: [3, 20], candidates: [], second: null });
    expect(only).toMatchObject({ status: 'localized', lit: false, path: [3, 20] });
  });

  it('keeps the part of an answer that broke', () => {
    const error = { code: 'model_lost', message: 'The model stopped.', action: 'Try again.' };
    const [only] = after([fromServer(turn({ partial: 'Half an' }))], { type: 'turn.interrupted', turn: 7, seq: 9, error, partial: '' });
    expect(only).toMatchObject({ status: 'interrupted', partial: 'Half an', error });
  });

  it('does not fall back behind the stream when an older answer of REST comes in', () => {
    const ahead = [fromServer(turn({ partial: 'The sink stays', seq: 9 }))];
    expect(merge(ahead, [turn({ partial: 'The', seq: 9 })])[0]!.partial).toBe('The sink stays');
    expect(merge(ahead, [turn({ status: 'refined', answer: 'The sink stays.', seq: 12 })])[0]).toMatchObject({ status: 'refined', answer: 'The sink stays.' });
  });

  it('learns the words of a queued turn of another tab, though the stream is ahead of REST', () => {
    const queued = apply([], { type: 'turn.queued', turn: 9, seq: 1, client_id: 'c-9', ahead: 1 }, NOW);
    expect(queued.refetch).toBe(9);
    const [only] = merge(queued.turns, [turn({ id: 9, client_id: 'c-9', status: 'received', text: 'A dog called Praline', seq: 0 })]);
    expect(only).toMatchObject({ text: 'A dog called Praline', status: 'queued', ahead: 1 });
  });

  it('takes the text of a turn that was queued from another page', () => {
    const queued = apply([], { type: 'turn.queued', turn: 8, seq: 1, client_id: 'c-8', ahead: 1 }, NOW);
    expect(queued.refetch).toBe(8);
    const [only] = merge(queued.turns, [turn({ id: 8, client_id: 'c-8', status: 'queued', text: 'Second', seq: 0 })]);
    expect(only).toMatchObject({ text: 'Second', ahead: 1, seq: 1 });
  });

  it('asks for the whole of a turn that another tab sent: its messages don’t say what it was edited from', () => {
    const sent = apply([], { type: 'turn.accepted', turn: 9, seq: 1, client_id: 'c-9', text: 'The sink moves' }, NOW);
    expect(sent.refetch).toBe(9);
    const edited_from = { turn: 7, state: 31, label: 'The sink stays', again: false };
    const ahead = apply(sent.turns, { type: 'turn.delta', turn: 9, seq: 5, text: 'Then', offset: 0 }, NOW).turns;
    expect(merge(ahead, [turn({ id: 9, client_id: 'c-9', seq: 0, edited_from })])[0]).toMatchObject({ partial: 'Then', text: 'The sink moves', edited_from });
    expect(apply([written('c-1', 'Hello', NOW, {})], { type: 'turn.accepted', turn: 7, seq: 1, client_id: 'c-1', text: 'Hello' }, NOW).refetch).toBeUndefined();
  });

  it('loses what another tab dropped, and what was deleted from the forest', () => {
    const list = [fromServer(turn({ id: 6, client_id: 'c-0', state: 31 })), fromServer(turn({ status: 'cancelled' }))];
    expect(after(list, { type: 'turn.dropped', turn: 7, seq: 9, client_id: 'c-1' }).map((one) => one.id)).toEqual([6]);
    expect(after(list, { type: 'state.removed', turn: 6, seq: 9, states: [31, 32] }).map((one) => one.id)).toEqual([7]);
  });

  it('finds after a gap what was dropped in it, and keeps what is older, unsent or came meanwhile', () => {
    const [old, dropped, stays, came] = [3, 7, 6, 9].map((id) => fromServer(turn({ id, client_id: `c-${id}` })));
    const unsent = written('c-x', 'not yet sent', NOW, {});
    const before = [old!, stays!, dropped!, unsent];
    const left = (all: boolean) => present([...before, came!], before, [turn({ id: 5 }), turn({ id: 6 })], all).map((one) => one.id);
    expect(left(false)).toEqual([3, 6, null, 9]);
    expect(left(true)).toEqual([6, null, 9]);
    expect(present(before, before, [], false)).toEqual(before);
    expect(present(before, before, [], true)).toEqual([unsent]);
  });

  it('says that a turn was not remembered, and takes it back once it was', () => {
    const error = { code: 'model_lost', message: 'The model didn’t answer.', action: 'It is tried again.' };
    const row = { id: 31, pending: true } as never;
    const refined = { type: 'memory.refined' as const, turn: 7, seq: 9, state: row, tree: row, facts: [], records: [], revisions: [], pending: 1 };
    const [failed] = after([fromServer(turn({ status: 'answered', state: 31 }))], { ...refined, error });
    expect(failed).toMatchObject({ status: 'answered', refined_at: null, error });
    expect(after([failed!], { ...refined, seq: 10, error: null })[0]).toMatchObject({ status: 'refined', refined_at: NOW, error: null });
  });

  it('stays in the order in which turns were sent, unsent ones last', () => {
    const list = merge([written('c-9', 'not yet sent', NOW, {})], [turn({ id: 8, client_id: 'c-8' }), turn({ id: 7 })]);
    expect(list.map((one) => one.id)).toEqual([7, 8, null]);
  });
});

describe('an edited turn', () => {
  const original = fromServer(turn({ status: 'refined', state: 31, text: 'The sink stays\nunder the window', answer: 'Then the drain stays.' }));

  it('says what it was edited from, and whether the text is another', () => {
    expect(editedFrom([original], 7, 'The sink moves')).toEqual({ turn: 7, state: 31, label: 'The sink stays', again: false });
    expect(editedFrom([original], 7, original.text)?.again).toBe(true);
    expect(editedFrom([original], 8, 'Hello')).toBeNull();
    expect(editedFrom([original], undefined, 'Hello')).toBeNull();
  });

  it('is found from its original', () => {
    const from = editedFrom([original], 7, 'x');
    const edits = [written('c-8', 'x', NOW, { edit_of: 7 }, from), written('c-9', 'y', NOW, { edit_of: 7 }, from)];
    expect(editsOf([original, ...edits]).get(7)).toEqual(edits);
    expect(editsOf([original]).size).toBe(0);
  });
});
