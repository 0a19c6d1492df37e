/** The live half of the network: one socket per forest that reconnects by itself, resumes every open turn from the
 *  last message seen, and hands messages on in order of `seq`, none twice and none left out. */

import { utf8Bytes } from './chat/bytes';
import type { ClientMessage, ServerMessage } from './types';

export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

export interface SocketOptions {
  url: string;
  message(message: ServerMessage): void;
  /** The state of the line; `refused` is final (signed out, or not yours). */
  connection(state: Connection, code?: number): void;
  /** Turns whose messages should be asked for again after a reconnect. */
  openTurns(): number[];
  open?(url: string): WebSocket;
  random?(): number;
}

/** A longer one closes the line (docs/limits.md). */
const LONGEST_FRAME = 64 * 1024;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;
/** How long missing messages are waited for before what came after them is taken anyway. */
export const GAP_PATIENCE = 2_000;
/** A connection must hold this long before the next failure starts from the first delay again. */
const STEADY = 5_000;
const GONE: ReadonlySet<string> = new Set(['turn.dropped', 'state.removed']);
const FINAL_CODES = new Set([4401, 4404]);

export class ForestSocket {
  private socket: WebSocket | null = null;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private steadyTimer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private readonly last = new Map<number, number>();
  private readonly early = new Map<number, Map<number, ServerMessage>>();
  private readonly patience = new Map<number, ReturnType<typeof setTimeout>>();

  constructor(private readonly options: SocketOptions) {}

  connect(): void {
    if (this.closed || this.socket) return;
    clearTimeout(this.timer);
    this.options.connection(this.failures ? 'lost' : 'connecting');
    const socket = (this.options.open ?? ((url) => new WebSocket(url)))(this.options.url);
    this.socket = socket;
    socket.onopen = () => {
      this.steadyTimer = setTimeout(() => (this.failures = 0), STEADY);
      this.options.connection('live');
      for (const turn of this.options.openTurns()) this.resume(turn);
    };
    socket.onmessage = (event: MessageEvent) => this.receive(JSON.parse(String(event.data)) as ServerMessage);
    socket.onclose = (event: CloseEvent) => this.lost(event.code);
  }

  /** Try at once instead of waiting out the delay (the machine is online again, the tab is looked at). */
  hurry(): void {
    if (!this.socket && !this.closed) this.connect();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    clearTimeout(this.steadyTimer);
    for (const timer of this.patience.values()) clearTimeout(timer);
    this.socket?.close();
  }

  get live(): boolean {
    return this.socket?.readyState === 1;
  }

  /** Send if the line is up and the server takes a message as long; says whether it was sent. */
  send(message: ClientMessage): boolean {
    const frame = JSON.stringify(message);
    if (!this.live || utf8Bytes(frame) > LONGEST_FRAME) return false;
    this.socket?.send(frame);
    return true;
  }

  /** Everything of this turn up to `seq` is known from elsewhere (a REST answer). */
  seen(turn: number, seq: number): void {
    if (seq > (this.last.get(turn) ?? 0)) this.last.set(turn, seq);
    this.drain(turn);
  }

  /** A turn starts over: its numbering is taken from `seq` whatever was seen before. */
  restart(turn: number, seq: number): void {
    this.last.set(turn, seq);
    this.early.delete(turn);
  }

  resume(turn: number): void {
    this.send({ type: 'turn.resume', turn, after: this.last.get(turn) ?? 0 });
  }

  private receive(message: ServerMessage): void {
    const { turn, seq } = message;
    if (turn === undefined || turn === null || !seq) return this.options.message(message);
    if (GONE.has(message.type)) {
      // Nothing of it is kept any more, so nothing that may be missing is worth waiting for.
      this.restart(turn, seq);
      return this.options.message(message);
    }
    const last = this.last.get(turn) ?? 0;
    // A turn begins with being queued or accepted. Memory written so late that the numbering had expired starts at 1 again.
    if (seq === 1 && message.type === 'memory.refined') return this.options.message(message);
    if (seq <= last) return;
    if (seq > last + 1) return this.hold(turn, seq, message);
    this.last.set(turn, seq);
    this.options.message(message);
    this.drain(turn);
  }

  /** A message came before one that is still missing: keep it, ask for the missing ones, and don't wait for ever. */
  private hold(turn: number, seq: number, message: ServerMessage): void {
    const waiting = this.early.get(turn) ?? new Map<number, ServerMessage>();
    this.early.set(turn, waiting.set(seq, message));
    if (this.patience.has(turn)) return;
    this.resume(turn);
    this.patience.set(turn, setTimeout(() => {
      this.patience.delete(turn);
      const rest = this.early.get(turn);
      while (rest?.size) {
        this.last.set(turn, Math.min(...rest.keys()) - 1);
        this.drain(turn);
      }
    }, GAP_PATIENCE));
  }

  private drain(turn: number): void {
    const waiting = this.early.get(turn);
    if (!waiting) return;
    for (;;) {
      const last = this.last.get(turn) ?? 0;
      for (const seq of waiting.keys()) if (seq <= last) waiting.delete(seq);
      const next = waiting.get(last + 1);
      if (!next) break;
      this.last.set(turn, last + 1);
      waiting.delete(last + 1);
      this.options.message(next);
    }
    if (waiting.size) return;
    this.early.delete(turn);
    clearTimeout(this.patience.get(turn));
    this.patience.delete(turn);
  }

  private lost(code: number): void {
    this.socket = null;
    clearTimeout(this.steadyTimer);
    if (this.closed) return;
    if (FINAL_CODES.has(code)) {
      this.closed = true;
      return this.options.connection('refused', code);
    }
    this.failures += 1;
    this.options.connection('lost', code);
    const ceiling = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (this.failures - 1));
    this.timer = setTimeout(() => this.connect(), ceiling * (0.5 + 0.5 * (this.options.random ?? Math.random)()));
  }
}
