/** Import jobs in words a person reads. Pure. */

import { count } from '../shell/time';
import type { Job, Trouble } from '../types';
import type { Importing } from './importing';

const MIB = 1024 * 1024;
const FORMATS: Record<string, string> = {
  chatgpt: 'ChatGPT', claude: 'Claude', openwebui: 'Open WebUI', librechat: 'LibreChat', jsonl: 'JSON lines', arborweb: 'ArborWeb',
};

/** Remarks of the server by their reason; those not here are said as they are. */
const LEFT_OUT: Record<string, string> = {
  hidden: 'Hidden messages',
  'a system message': 'System messages',
  'a call of a tool': 'Calls of tools',
  'output of a tool': 'What tools returned',
  thoughts: 'Thoughts of the model',
  empty: 'Empty messages',
  'an unknown sender': 'Messages of an unknown sender',
  'an error instead of an answer': 'Errors in place of an answer',
  'no message': 'Entries that aren’t messages',
  unreadable: 'Unreadable conversations or lines',
  'unknown format': 'Files of an unknown format',
  'no JSON': 'Other files in the archive',
  damaged: 'Damaged files',
  unsound: 'Rows that don’t hold together',
};
const CHANGED: Record<string, string> = {
  'no time': 'Turns without a time got that of a neighbour',
  'too long': 'Long texts were cut',
  'unknown parent': 'Turns whose parent is missing begin a tree',
  'duplicate id': 'Messages with the same id were told apart',
  circle: 'Circles in a conversation were opened',
  'long answer': 'Answers of very many parts lost their first ones',
  'cut short': 'The file ends early; what was before is kept',
};

export interface Remark {
  label: string;
  count: number;
}

export interface Remarks {
  leftOut: Remark[];
  changed: Remark[];
  total: number;
  lines: { where: string; what: string }[];
}

/** "640 KiB", "12.5 MiB". */
export const sizeWords = (bytes: number): string =>
  bytes < MIB ? `${Math.max(1, Math.round(bytes / 1024)).toLocaleString('en')} KiB` : `${(bytes / MIB).toLocaleString('en', { maximumFractionDigits: bytes < 100 * MIB ? 1 : 0 })} MiB`;

export const formatWords = (formats: readonly string[]): string => formats.map((name) => FORMATS[name] ?? name).join(', ');

/** What happens now, in a few words. */
export function workingWords(job: Job, lost = false): string {
  if (lost) return 'The server doesn’t answer. It is asked again.';
  if (job.status === 'waiting') return 'Waiting for its turn';
  return job.total ? `${job.done.toLocaleString('en')} of ${count(job.total, 'turn')}` : 'Reading the file';
}

export const percentOf = (done: number, total: number): number => (total ? Math.min(100, Math.floor((100 * done) / total)) : 0);

/** What came of it, in a sentence. */
export function headline(job: Job): string {
  const { new: fresh, known } = job.import ?? { new: 0, known: 0 };
  if (job.status === 'cancelled') return fresh ? `Cancelled after ${count(fresh, 'turn')}.` : 'Cancelled. Nothing was taken in.';
  if (job.status === 'failed') return fresh ? `The import stopped after ${count(fresh, 'turn')}.` : 'Nothing was imported.';
  if (fresh) return `${count(fresh, 'turn')} came in.`;
  return known ? 'Nothing new in this file.' : 'There was nothing to take in.';
}

/** What else there is to say: what was known, where it came from. */
export function details(job: Job): string {
  const { new: fresh, known, formats } = job.import ?? { new: 0, known: 0, formats: [] };
  const from = formatWords(formats);
  const here = known ? (fresh ? `${count(known, 'turn was', 'turns were')} here already.` : known === 1 ? 'Its one turn is here already.' : `All ${known.toLocaleString('en')} turns are here already.`) : '';
  return [from && `From ${from}.`, here].filter(Boolean).join(' ');
}

/** Of a cancelled import: what is kept, and how it goes on. */
export function keptWords(job: Job): string {
  const { new: fresh, known } = job.import ?? { new: 0, known: 0 };
  const here = known ? `${count(known, 'turn was', 'turns were')} here already. ` : '';
  if (!fresh) return `${here}The forest is as it was before.`;
  return `${here}${fresh === 1 ? 'The turn that came in stays' : `The ${count(fresh, 'turn')} that came in stay`}, with what memory makes of ${fresh === 1 ? 'it' : 'them'}. Import the same file again to go on from there.`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function remarks(job: Job): Remarks {
  const counts = Object.entries(job.import?.left_out ?? {});
  const of = (changed: boolean): Remark[] =>
    counts.filter(([reason]) => reason in CHANGED === changed)
      .map(([reason, n]) => ({ label: CHANGED[reason] ?? LEFT_OUT[reason] ?? capital(reason), count: n }))
      .sort((a, b) => b.count - a.count || a.label.localeCompare(b.label));
  return {
    leftOut: of(false), changed: of(true), total: counts.reduce((sum, [, n]) => sum + n, 0),
    lines: (job.import?.lines ?? []).map((line) => {
      const at = line.indexOf(': ');
      return at < 0 ? { where: '', what: line } : { where: line.slice(0, at), what: line.slice(at + 2) };
    }),
  };
}

/** Why a job failed and what to do. */
export const jobTrouble = (job: Job): Trouble =>
  job.error ?? { code: 'failed', message: 'The import stopped.', action: 'Import the file again: it goes on where it stopped.' };

/** One line for the forest panel and the first visit; empty when there is nothing to tell. */
export function lineWords({ sending, job, lost }: Importing): string {
  if (sending) return `Sending the file, ${percentOf(sending.sent, sending.total)} %`;
  if (!job) return '';
  if (job.status !== 'waiting' && job.status !== 'running') return headline(job);
  return lost || !job.total ? workingWords(job, lost) : `Importing ${workingWords(job)}`;
}

/** Before anything is sent: why this can't be an import. */
export function refusal(files: readonly { size: number }[], limit: number): Trouble | null {
  const [file] = files;
  if (!file) return null;
  if (files.length > 1) return { code: 'invalid', message: 'One file at a time.', action: 'Put several into a ZIP archive, or import one after the other.' };
  if (file.size === 0) return { code: 'invalid', message: 'This file is empty.', action: 'Choose another one.' };
  if (file.size > limit) {
    return { code: 'too_large', message: `This file has ${sizeWords(file.size)}; at most ${sizeWords(limit)} are taken.`, action: 'Packed into a ZIP archive it may fit; else import it in parts.' };
  }
  return null;
}
