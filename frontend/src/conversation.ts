/** Keeps the chat and the server of one mind: sending, resuming, falling back to REST, and what to do with a broken turn. */

import { api, ApiError, type Placement } from './api';
import { forgetUnsent, keepEditsOf, keepUnsent, readUnsent } from './chat/draft';
import { apply, editedFrom, merge, OPEN, present, written, type ChatTurn } from './chat/turns';
import { DURATION } from './forest/motion';
import { ForestSocket, type Connection } from './socket';
import { placeWords, type AppState } from './state';
import type { Store } from './store';
import type { ForgetAsked, Page, ServerMessage, StateRow, TreeRow, Trouble, Turn } from './types';

/** How long the socket has to say that it has a turn before REST is asked. */
const ACK_PATIENCE = 4_000;
const POLL_EVERY = 1_500;
/** States read once more while a forest grows: they may have been refined since. */
const READ_AGAIN = 64;
/** A path is shown this long at most before words appear, even when no frame is drawn (a hidden tab). */
const LIGHT_PATIENCE = 400;

/** `crypto.randomUUID` isn't there over plain HTTP. */
const newClientId = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

export interface ForestDrawing {
  added(row: StateRow, tree: TreeRow): void;
  updated(row: StateRow, tree: TreeRow): void;
  removed(ids: number[]): void;
  reset(): void;
}

export const troubleOf = (error: unknown): Trouble =>
  error instanceof ApiError
    ? { code: error.code, message: error.message, action: error.action }
    : { code: 'page', message: 'Something on this page went wrong.', action: 'Reload the page; nothing that was sent is lost.' };

export class Conversation {
  private readonly socket: ForestSocket;
  private readonly waiting = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly fetching = new Set<number>();
  private poll: ReturnType<typeof setInterval> | undefined;
  private wasLost = false;
  /** The forest is being read anew, and whether it changed once more meanwhile. */
  private reading: Promise<void> | null = null;
  private stale = false;
  /** Rows that came or went since the reading began: they are newer than what it brings. */
  private since: { rows: Map<number, { state: StateRow; tree: TreeRow }>; gone: Set<number> } | null = null;

  constructor(
    private readonly store: Store<AppState>,
    private readonly forest: number,
    private readonly drawing: ForestDrawing,
    private readonly announce: (words: string) => void,
    /** Whether the end of the chat is in view. */
    private readonly atEnd: () => boolean,
    /** Someone asked to forget something. */
    private readonly forget: (text: string, placement: Placement, asked: ForgetAsked) => void,
  ) {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.socket = new ForestSocket({
      url: `${scheme}://${location.host}/ws/forests/${forest}/`,
      message: (message) => this.receive(message),
      connection: (state, code) => this.connection(state, code),
      openTurns: () => this.open().flatMap((turn) => (turn.id === null ? [] : [turn.id])),
    });
    addEventListener('online', () => this.socket.hurry());
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.socket.hurry());
  }

  /** Load what there is, then listen; unsent turns of an earlier visit go out again under their old client id. */
  async start(): Promise<void> {
    const [turns, states] = await Promise.all([api.turns(this.forest), api.states(this.forest)]);
    this.takeStates(states.results, states.trees, states.active);
    this.takeLatest(turns);
    this.socket.connect();
    for (const unsent of readUnsent(this.forest)) {
      if (this.turns.some((turn) => turn.client_id === unsent.client_id)) forgetUnsent(this.forest, unsent.client_id);
      else this.dispatch(this.written(unsent.client_id, unsent.text, unsent.sent_at, unsent.placement));
    }
  }

  send(text: string, placement: Placement): void {
    const turn = this.written(newClientId(), text, new Date().toISOString(), placement);
    keepUnsent(this.forest, { client_id: turn.client_id, text, sent_at: turn.sent_at, placement });
    this.dispatch(turn);
  }

  private written(client_id: string, text: string, sent_at: string, placement: Placement): ChatTurn {
    return written(client_id, text, sent_at, placement, editedFrom(this.turns, placement.edit_of, text));
  }

  private dispatch(turn: ChatTurn): void {
    this.store.set({ turns: [...this.turns, turn], inspectedTurn: null, selected: null, slot: null });
    if (this.store.get().newer) void this.newest();
    const sent = this.socket.send({ type: 'turn.send', client_id: turn.client_id, text: turn.text, ...turn.placement });
    if (sent) this.waiting.set(turn.client_id, setTimeout(() => void this.post(turn), ACK_PATIENCE));
    else void this.post(turn);
  }

  /** Over REST; the client id makes a second delivery harmless. */
  private async post(turn: ChatTurn): Promise<void> {
    this.waiting.delete(turn.client_id);
    if (this.turns.some((known) => known.client_id === turn.client_id && known.id !== null)) return;
    try {
      const answer = await api.sendTurn(this.forest, turn.client_id, turn.text, turn.placement);
      if ('forget' in answer) this.askedToForget(turn.client_id, answer.forget);
      else this.takeTurns([answer]);
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) {
        forgetUnsent(this.forest, turn.client_id);
        this.patch((known) => known.client_id === turn.client_id, { status: 'failed', error: troubleOf(error) });
      } else {
        this.waiting.set(turn.client_id, setTimeout(() => void this.post(turn), 3_000));
      }
    }
  }

  /** It was a wish to forget and made no turn: what fits is shown instead. Another page that wrote it shows it. */
  private askedToForget(client_id: string, asked: ForgetAsked): void {
    const turn = this.turns.find((known) => known.client_id === client_id && known.id === null);
    this.settled({ client_id });
    if (!turn) return;
    this.store.set({ turns: this.turns.filter((known) => known !== turn) });
    this.forget(turn.text, turn.placement, asked);
  }

  cancel(id: number): void {
    if (!this.socket.send({ type: 'turn.cancel', turn: id })) void this.act(() => api.cancelTurn(id));
  }

  async retry(turn: ChatTurn): Promise<void> {
    if (turn.id === null) {
      this.store.set({ turns: this.turns.filter((known) => known !== turn) });
      return this.send(turn.text, turn.placement);
    }
    await this.act(async () => {
      const fresh = await api.retryTurn(turn.id as number);
      this.socket.restart(fresh.id, fresh.seq);
      this.patch((known) => known.id === fresh.id, { ...fresh, partial: '', length: 0 });
      this.socket.resume(fresh.id);
      return null;
    });
  }

  keep = (id: number): Promise<void> => this.act(() => api.keepTurn(id));

  async drop(turn: ChatTurn): Promise<void> {
    await this.act(async () => {
      if (turn.id !== null) await api.dropTurn(turn.id);
      forgetUnsent(this.forest, turn.client_id);
      this.store.set({ turns: this.turns.filter((known) => known.client_id !== turn.client_id || known.id !== turn.id) });
      return null;
    });
  }

  async earlier(): Promise<void> {
    const { earlier, loadingEarlier } = this.store.get();
    if (earlier === null || loadingEarlier) return;
    this.store.set({ loadingEarlier: true });
    try {
      const page = await api.turns(this.forest, earlier);
      this.store.set({ earlier: page.next });
      this.takeTurns(page.results);
    } catch (error) {
      this.store.set({ notice: troubleOf(error) });
    } finally {
      this.store.set({ loadingEarlier: false });
    }
  }

  /** Leave what is being read for the latest turns. */
  async newest(): Promise<void> {
    try {
      this.replaceTurns(await api.turns(this.forest));
    } catch (error) {
      this.store.set({ notice: troubleOf(error) });
    }
  }

  private async act(work: () => Promise<Turn | null>): Promise<void> {
    try {
      const turn = await work();
      if (turn) {
        this.takeTurns([turn]);
        this.patch((known) => known.id === turn.id, turn);
        if (turn.state !== null) await this.catchUp();
      }
      this.store.set({ notice: null });
    } catch (error) {
      this.store.set({ notice: troubleOf(error) });
    }
  }

  private get turns(): ChatTurn[] {
    return this.store.get().turns;
  }

  private open(): ChatTurn[] {
    return this.turns.filter((turn) => OPEN.has(turn.status) || turn.status === 'answered');
  }

  private patch(which: (turn: ChatTurn) => boolean, part: Partial<ChatTurn>): void {
    this.store.set({ turns: this.turns.map((turn) => (which(turn) ? { ...turn, ...part } : turn)) });
  }

  private takeTurns(turns: Turn[]): void {
    for (const turn of turns) this.settled(turn);
    this.store.set({ turns: merge(this.turns, turns) });
    for (const turn of turns) this.socket.seen(turn.id, turn.seq);
  }

  /** The latest turns. When turns between them and those shown are missing, those shown go, unless someone reads them. */
  private takeLatest(page: Page<Turn>): void {
    const known = this.turns.flatMap((turn) => (turn.id === null ? [] : [turn.id]));
    const apart = page.next !== null && (page.results[0]?.id ?? 0) > Math.max(0, ...known);
    if (!apart) this.takeTurns(page.results);
    else if (!known.length || this.atEnd()) this.replaceTurns(page);
    else this.store.set({ newer: true });
  }

  private replaceTurns(page: Page<Turn>): void {
    this.store.set({ turns: this.turns.filter((turn) => turn.id === null || OPEN.has(turn.status)), earlier: page.next, newer: false });
    this.takeTurns(page.results);
  }

  private settled(turn: { client_id: string }): void {
    clearTimeout(this.waiting.get(turn.client_id));
    this.waiting.delete(turn.client_id);
    forgetUnsent(this.forest, turn.client_id);
  }

  private takeStates(rows: StateRow[], trees: TreeRow[], active: number | null): void {
    const { selected } = this.store.get();
    this.store.set({
      ...(selected !== null && !rows.some((row) => row.id === selected) ? { selected: null } : {}),
      states: new Map(rows.map((row) => [row.id, row])), trees: new Map(trees.map((tree) => [tree.root, tree])),
      active, pending: rows.filter((row) => row.pending).length,
    });
    this.drawing.reset();
    this.forgetEdits();
  }

  /** Changed texts of turns that were deleted, here or elsewhere. */
  private forgetEdits(): void {
    keepEditsOf(this.forest, new Set([...this.store.get().states.values()].map((row) => row.turn)));
  }

  private receive(message: ServerMessage): void {
    if (message.type === 'error' && message.code === 'unknown_turn') return void this.catchUp(); // dropped or deleted meanwhile
    if (message.type === 'error') {
      this.store.set({ notice: { code: message.code, message: message.message, action: message.action } });
      return;
    }
    if (message.type === 'forest.changed') {
      void this.catchUp();
      return;
    }
    if (message.type === 'forget.asked') return this.askedToForget(message.client_id, message);
    if (message.type === 'turn.queued' || message.type === 'turn.accepted') this.settled(message);
    const moved = message.type === 'state.changed' && this.store.get().states.get(message.state.id)?.parent !== message.state.parent;
    // The forest first: watchers of the store hand a path to the drawing before the chat gets its next frame.
    if (message.type === 'state.added' || message.type === 'state.changed' || message.type === 'memory.refined') this.takeRow(message);
    // Turns go with their states, at once: what is gone is asked for no more.
    if (message.type === 'state.removed') this.store.set({ turns: apply(this.turns, message, '').turns });
    if (message.type === 'state.removed') this.dropRows(message.states);
    const applied = apply(this.turns, message, new Date().toISOString());
    this.store.set({ turns: applied.turns });
    if (message.type === 'turn.localized') {
      this.lightThenSpeak(message.turn);
      this.announce(placeWords(this.store.get(), message.decision));
    }
    if (message.type === 'turn.answered') this.announce('Answer finished.');
    if (message.type === 'turn.failed' || message.type === 'turn.interrupted') this.announce('The answer was cut short.');
    const stale = applied.refetch ?? (moved ? this.turns.find((turn) => turn.state === message.state.id)?.id : undefined);
    if (stale) void this.refetch(stale);
  }

  /** Words wait until the forest has drawn the path from the root to its end. */
  private lightThenSpeak(id: number): void {
    const began = performance.now();
    const takes = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : DURATION.light;
    let frames = 0;
    const speak = () => {
      clearTimeout(timer);
      if (this.turns.some((turn) => turn.id === id && !turn.lit)) this.patch((turn) => turn.id === id, { lit: true });
    };
    const timer = setTimeout(speak, LIGHT_PATIENCE);
    const frame = () => (++frames > 1 && performance.now() - began > takes ? speak() : requestAnimationFrame(frame));
    requestAnimationFrame(frame);
  }

  private takeRow(message: Extract<ServerMessage, { type: 'state.added' | 'state.changed' | 'memory.refined' }>): void {
    const { state: row, tree } = message;
    this.since?.rows.set(row.id, { state: row, tree });
    // The drawing first: the state settles where its answer was growing.
    if (this.store.get().states.has(row.id)) this.drawing.updated(row, tree);
    else this.drawing.added(row, tree);
    const states = new Map(this.store.get().states).set(row.id, row);
    const trees = new Map(this.store.get().trees).set(tree.root, tree);
    const pending = message.type === 'memory.refined' ? message.pending : [...states.values()].filter((state) => state.pending).length;
    this.store.set({ states, trees, pending, ...(message.type === 'state.added' ? { active: message.active } : {}) });
  }

  private dropRows(ids: number[]): void {
    const states = new Map(this.store.get().states);
    for (const id of ids) {
      states.delete(id);
      this.since?.rows.delete(id);
      this.since?.gone.add(id);
    }
    const { selected } = this.store.get();
    this.store.set({ states, ...(selected !== null && ids.includes(selected) ? { selected: null } : {}) });
    this.drawing.removed(ids);
    this.forgetEdits();
  }

  private async refetch(id: number): Promise<void> {
    if (this.fetching.has(id)) return;
    this.fetching.add(id);
    try {
      this.takeTurns([await api.turn(id)]);
    } catch {
      // The next message or poll tries again.
    } finally {
      this.fetching.delete(id);
    }
  }

  private connection(state: Connection, code?: number): void {
    this.store.set({ connection: state });
    if (state === 'lost') {
      this.wasLost = true;
      this.poll ??= setInterval(() => void this.pollOnce(), POLL_EVERY);
    }
    if (state !== 'live' && state !== 'refused') return;
    clearInterval(this.poll);
    this.poll = undefined;
    if (state === 'refused') {
      const message = code === 4401 ? 'You are signed out.' : 'This forest isn’t here any more.';
      this.store.set({ notice: { code: 'refused', message, action: code === 4401 ? 'Sign in again; your draft is kept.' : 'Choose another forest.' } });
    } else if (this.wasLost) {
      this.wasLost = false;
      void this.catchUp();
    }
  }

  /** Without a socket: look at what is under way. */
  private async pollOnce(): Promise<void> {
    const open = this.open().filter((turn) => turn.id !== null);
    if (!open.length || document.visibilityState === 'hidden') return;
    const before = open.map((turn) => turn.status).join();
    for (const turn of open) await this.refetch(turn.id as number);
    if (this.open().map((turn) => turn.status).join() !== before) await this.catchUp();
  }

  /** After a gap, or when the forest changed as a whole: the latest turns, every state and the counts once more. One reading at a time. */
  catchUp(): Promise<void> {
    if (this.reading) this.stale = true;
    this.reading ??= this.readAnew().finally(() => (this.reading = null)).then(() => {
      const again = this.stale;
      this.stale = false;
      return again ? this.catchUp() : undefined;
    });
    return this.reading;
  }

  private async readAnew(): Promise<void> {
    const since = { rows: new Map<number, { state: StateRow; tree: TreeRow }>(), gone: new Set<number>() };
    this.since = since;
    const before = this.turns;
    try {
      const [turns, states, forest] = await Promise.all([api.turns(this.forest), api.states(this.forest), api.forest(this.forest)]);
      const rows = new Map(states.results.map((row) => [row.id, row]));
      const trees = new Map(states.trees.map((tree) => [tree.root, tree]));
      for (const id of since.gone) rows.delete(id);
      for (const { state, tree } of since.rows.values()) {
        rows.set(state.id, state);
        trees.set(tree.root, tree);
      }
      this.store.set({ turns: present(this.turns, before, turns.results, turns.next === null) });
      this.takeLatest(turns);
      this.takeStates([...rows.values()], [...trees.values()], since.rows.size ? this.store.get().active : states.active);
      this.store.set(({ forests }) => ({ forest, forests: forests.map((one) => (one.id === forest.id ? forest : one)) }));
    } catch {
      // The socket or the next poll comes back to it.
    } finally {
      this.since = null;
    }
  }

  /** While an import runs: the states that came since the last one drawn. */
  async grow(): Promise<void> {
    if (this.reading) return this.reading;
    const known = this.store.get().states;
    const last = [...known.values()].reduce((most, row) => Math.max(most, row.position), 0);
    try {
      const page = await api.states(this.forest, Math.max(0, last - READ_AGAIN));
      const states = new Map(this.store.get().states);
      const trees = new Map(this.store.get().trees);
      for (const row of page.results) if (!known.has(row.id) || states.has(row.id)) states.set(row.id, row);
      for (const tree of page.trees) trees.set(tree.root, tree);
      this.takeStates([...states.values()].sort((a, b) => a.position - b.position), [...trees.values()], page.active);
    } catch {
      // The next step brings them.
    }
  }
}
