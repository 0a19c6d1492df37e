import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ForestSocket, GAP_PATIENCE, type Connection } from './socket';
import type { ServerMessage } from './types';

/** The browser's socket, as far as the page touches it. */
class Line {
  static all: Line[] = [];
  readyState = 0;
  sent: unknown[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  constructor() {
    Line.all.push(this);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.drop(1000);
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  drop(code = 1006) {
    this.readyState = 3;
    this.onclose?.({ code });
  }
  say(...messages: object[]) {
    for (const message of messages) this.onmessage?.({ data: JSON.stringify(message) });
  }
}

const delta = (seq: number, turn = 7) => ({ type: 'turn.delta', turn, seq, text: `${seq} `, offset: 0 });

function connected(openTurns: number[] = []) {
  const heard: ServerMessage[] = [];
  const states: Connection[] = [];
  const socket = new ForestSocket({
    url: 'ws://forest.test/ws/forests/1/', message: (message) => heard.push(message), connection: (state) => states.push(state),
    openTurns: () => openTurns, open: () => new Line() as unknown as WebSocket, random: () => 1,
  });
  socket.connect();
  Line.all.at(-1)!.open();
  return { socket, heard, states, line: () => Line.all.at(-1)!, seqs: () => heard.map((message) => message.seq) };
}

beforeEach(() => {
  vi.useFakeTimers();
  Line.all = [];
});
afterEach(() => void vi.useRealTimers());

describe('socket', () => {
  it('hands on every message once: what was seen is dropped', () => {
    const { line, seqs } = connected();
    line().say(delta(1), delta(2), delta(2), delta(1), delta(3));
    expect(seqs()).toEqual([1, 2, 3]);
  });

  it('counts each turn by itself', () => {
    const { line, heard } = connected();
    line().say(delta(1, 7), delta(1, 8), delta(2, 8), delta(2, 7));
    expect(heard.map((message) => [message.turn, message.seq])).toEqual([[7, 1], [8, 1], [8, 2], [7, 2]]);
  });

  it('asks for what is missing, holds what came early, and hands all of it on in order', () => {
    const { line, seqs } = connected();
    line().say(delta(1), delta(4), delta(5));
    expect(seqs()).toEqual([1]);
    expect(line().sent).toEqual([{ type: 'turn.resume', turn: 7, after: 1 }]);
    line().say(delta(2), delta(3), delta(4));
    expect(seqs()).toEqual([1, 2, 3, 4, 5]);
  });

  it('goes on without messages that never come', () => {
    const { line, seqs } = connected();
    line().say(delta(1), delta(3), delta(6));
    vi.advanceTimersByTime(GAP_PATIENCE + 1);
    expect(seqs()).toEqual([1, 3, 6]);
  });

  it('comes back after a lost line, later each time, and resumes open turns after the last message seen', () => {
    const { line, states, seqs } = connected([7]);
    line().say(delta(1), delta(2));
    line().drop();
    expect(states.at(-1)).toBe('lost');
    vi.advanceTimersByTime(500);
    expect(Line.all).toHaveLength(2);
    line().drop();
    vi.advanceTimersByTime(500);
    expect(Line.all).toHaveLength(2);
    vi.advanceTimersByTime(500);
    expect(Line.all).toHaveLength(3);
    line().open();
    expect(line().sent).toEqual([{ type: 'turn.resume', turn: 7, after: 2 }]);
    line().say(delta(1), delta(2), delta(3));
    expect(seqs()).toEqual([1, 2, 3]);
    expect(states.at(-1)).toBe('live');
  });

  it('after a reload starts from the number that REST gave', () => {
    const { socket, line, seqs } = connected();
    socket.seen(7, 12);
    line().say(delta(12), delta(13));
    expect(seqs()).toEqual([13]);
  });

  it('is told when nothing could be sent', () => {
    const { socket, line } = connected();
    expect(socket.send({ type: 'turn.cancel', turn: 7 })).toBe(true);
    line().drop();
    expect(socket.send({ type: 'turn.cancel', turn: 7 })).toBe(false);
  });

  it('does not knock again when the session is over or the forest is not theirs', () => {
    const { line, states } = connected();
    line().drop(4401);
    vi.advanceTimersByTime(60_000);
    expect(Line.all).toHaveLength(1);
    expect(states.at(-1)).toBe('refused');
  });

  it('takes memory that was written after the numbering had expired', () => {
    const { socket, line, heard } = connected();
    socket.seen(7, 40);
    line().say({ type: 'memory.refined', turn: 7, seq: 1, state: {}, tree: {}, facts: [], records: [], revisions: [], pending: 0 });
    expect(heard).toHaveLength(1);
  });

  it('waits for nothing before the news that a turn or its state is gone', () => {
    const { line, seqs } = connected();
    line().say(delta(1), delta(4), { type: 'turn.dropped', turn: 7, seq: 9, client_id: 'c-1' }, { type: 'state.removed', turn: 8, seq: 3, states: [31] });
    expect(seqs()).toEqual([1, 9, 3]);
    vi.advanceTimersByTime(GAP_PATIENCE + 1);
    expect(seqs()).toEqual([1, 9, 3]);
  });

  it('sends no frame so long that the server would close the line', () => {
    const { socket, line } = connected();
    const send = (text: string) => socket.send({ type: 'turn.send', client_id: 'c-1', text });
    expect(send('"'.repeat(30_000))).toBe(true);
    expect(send('"'.repeat(33_000))).toBe(false);
    expect(line().sent).toHaveLength(1);
  });
});
