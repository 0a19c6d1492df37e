/** What the page knows of an import: the file chosen, how far it was sent, and the job that takes it in. */

import type { Forest, Job, Trouble } from '../types';
import type { Picked } from './peek';

export interface Importing {
  picked: Picked | null;
  /** `branches`: conversations keep their form. `own`: every turn finds its own place. */
  how: 'branches' | 'own';
  target: 'here' | 'new';
  /** Of the new forest. */
  name: string;
  /** A file is held over the page. */
  over: boolean;
  /** Bytes sent so far. */
  sending: { sent: number; total: number } | null;
  /** Why the file isn't taken. */
  trouble: Trouble | null;
  /** The import of this forest that runs, or that ended and wasn't looked at yet. */
  job: Job | null;
  /** The server doesn't answer; it is asked again. */
  lost: boolean;
  /** It was asked to stop, which it does after the batch under way. */
  stopping: boolean;
}

export type Step = 'choose' | 'sending' | 'working' | 'done' | 'cancelled' | 'failed';

export const noImport = (): Importing => ({
  picked: null, how: 'branches', target: 'here', name: '', over: false, sending: null, trouble: null, job: null, lost: false, stopping: false,
});

export const isOpen = (job: Job): boolean => job.status === 'waiting' || job.status === 'running';

export function stepOf({ sending, job }: Importing): Step {
  if (sending) return 'sending';
  if (!job) return 'choose';
  if (isOpen(job)) return 'working';
  return job.status === 'done' || job.status === 'cancelled' ? job.status : 'failed';
}

/** Something goes on that the page should tell of. */
export const isUnderWay = (importing: Importing): boolean => importing.sending !== null || (importing.job !== null && isOpen(importing.job));

/** A name that no forest has yet: “Imported chats”, “Imported chats 2”. */
export function freeName(wish: string, forests: readonly Forest[]): string {
  const taken = new Set(forests.map((forest) => forest.name));
  const base = wish.trim().slice(0, 110) || 'Imported chats';
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base} ${number}`;
    if (!taken.has(name)) return name;
  }
}

/** “Ines’s forest”: the first one of a person. */
export const ownName = (username: string): string => (username ? `${username.charAt(0).toUpperCase()}${username.slice(1)}’s forest` : 'My forest');
