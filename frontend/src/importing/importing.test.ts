import { describe, expect, it } from 'vitest';
import type { Forest, Job } from '../types';
import { freeName, isUnderWay, noImport, ownName, stepOf } from './importing';
import { peek } from './peek';
import { details, headline, jobTrouble, keptWords, lineWords, percentOf, refusal, remarks, sizeWords, workingWords } from './words';

const job = (part: Partial<Job> = {}, report: Partial<NonNullable<Job['import']>> = {}): Job => ({
  id: 3, kind: 'import', status: 'running', done: 0, total: 0, message: '', forest: 1, error: null, result: null,
  import: { formats: ['chatgpt'], relocalize: false, new: 0, known: 0, left_out: {}, lines: [], ...report }, ...part,
});
const named = (...names: string[]) => names.map((name) => ({ name }) as Forest);

describe('the steps of an import', () => {
  it('go from choosing to what came of it', () => {
    const at = (part: Parameters<typeof Object.assign>[1]) => stepOf({ ...noImport(), ...part });
    expect(at({})).toBe('choose');
    expect(at({ sending: { sent: 1, total: 2 }, job: job() })).toBe('sending');
    expect(at({ job: job({ status: 'waiting' }) })).toBe('working');
    expect(at({ job: job() })).toBe('working');
    expect(at({ job: job({ status: 'done' }) })).toBe('done');
    expect(at({ job: job({ status: 'failed' }) })).toBe('failed');
    expect(at({ job: job({ status: 'cancelled' }) })).toBe('cancelled');
  });

  it('are under way until the job ended', () => {
    expect(isUnderWay(noImport())).toBe(false);
    expect(isUnderWay({ ...noImport(), sending: { sent: 0, total: 2 } })).toBe(true);
    expect(isUnderWay({ ...noImport(), job: job() })).toBe(true);
    expect(isUnderWay({ ...noImport(), job: job({ status: 'failed' }) })).toBe(false);
  });
});

describe('names', () => {
  it('are free ones', () => {
    expect(freeName('Imported chats', [])).toBe('Imported chats');
    expect(freeName(' Home ', named('Home', 'Home 2'))).toBe('Home 3');
    expect(freeName('', named('Imported chats'))).toBe('Imported chats 2');
    expect(freeName('x'.repeat(200), named('x'.repeat(110)))).toHaveLength(112);
  });

  it('of a first forest are the person’s', () => {
    expect(ownName('ines')).toBe('Ines’s forest');
    expect(ownName('')).toBe('My forest');
  });
});

describe('a job in words', () => {
  it('says how far it is', () => {
    expect(workingWords(job({ status: 'waiting' }))).toBe('Waiting for its turn');
    expect(workingWords(job())).toBe('Reading the file');
    expect(workingWords(job({ done: 1200, total: 4000 }))).toBe('1,200 of 4,000 turns');
    expect(workingWords(job({ done: 1, total: 4 }), true)).toContain('asked again');
    expect([percentOf(0, 0), percentOf(1, 3), percentOf(4, 3)]).toEqual([0, 33, 100]);
  });

  it('says in one line what goes on while the dialog is closed', () => {
    expect(lineWords(noImport())).toBe('');
    expect(lineWords({ ...noImport(), sending: { sent: 1, total: 4 } })).toBe('Sending the file, 25 %');
    expect(lineWords({ ...noImport(), job: job() })).toBe('Reading the file');
    expect(lineWords({ ...noImport(), job: job({ done: 2, total: 4 }) })).toBe('Importing 2 of 4 turns');
    expect(lineWords({ ...noImport(), job: job({ done: 2, total: 4 }), lost: true })).toContain('asked again');
    expect(lineWords({ ...noImport(), job: job({ status: 'done' }, { new: 4 }) })).toBe('4 turns came in.');
  });

  it.each([
    [{ new: 1 }, '1 turn came in.', 'From ChatGPT.'],
    [{ new: 1200, known: 1 }, '1,200 turns came in.', 'From ChatGPT. 1 turn was here already.'],
    [{ new: 2, known: 3, formats: ['claude', 'odd'] }, '2 turns came in.', 'From Claude, odd. 3 turns were here already.'],
    [{ known: 5 }, 'Nothing new in this file.', 'From ChatGPT. All 5 turns are here already.'],
    [{ known: 1 }, 'Nothing new in this file.', 'From ChatGPT. Its one turn is here already.'],
    [{ formats: [] }, 'There was nothing to take in.', ''],
  ])('says what came of it: %o', (report, said, more) => {
    expect(headline(job({ status: 'done' }, report))).toBe(said);
    expect(details(job({ status: 'done' }, report))).toBe(more);
  });

  it('says what failed, and what stays', () => {
    const error = { code: 'conflict', message: 'm', action: 'a' };
    expect(headline(job({ status: 'failed', error }))).toBe('Nothing was imported.');
    expect(headline(job({ status: 'failed', error }, { new: 32 }))).toBe('The import stopped after 32 turns.');
    expect(jobTrouble(job({ status: 'failed', error }))).toBe(error);
    expect(jobTrouble(job({ status: 'failed' })).action).toContain('again');
  });

  it('says of a cancelled one what is kept', () => {
    const cancelled = (report: Parameters<typeof job>[1]) => job({ status: 'cancelled', message: 'Cancelled: 32 turns taken in' }, report);
    expect(headline(cancelled({ new: 32 }))).toBe('Cancelled after 32 turns.');
    expect(keptWords(cancelled({ new: 32, known: 1 }))).toBe('1 turn was here already. The 32 turns that came in stay, with what memory makes of them. Import the same file again to go on from there.');
    expect(keptWords(cancelled({ new: 1 }))).toContain('The turn that came in stays, with what memory makes of it.');
    expect([headline(cancelled({})), keptWords(cancelled({}))]).toEqual(['Cancelled. Nothing was taken in.', 'The forest is as it was before.']);
    expect(lineWords({ ...noImport(), job: cancelled({ new: 32 }) })).toBe('Cancelled after 32 turns.');
  });

  it('parts what was left out from what was changed, most first', () => {
    const said = remarks(job({ status: 'done' }, {
      left_out: { hidden: 2, 'no time': 1, thoughts: 7, 'content of the kind quote': 1 },
      lines: ['Conversation of 2026-01-05 (c1): message n3 left out: hidden', '3 files of the archive aren’t JSON'],
    }));
    expect(said.leftOut).toEqual([{ label: 'Thoughts of the model', count: 7 }, { label: 'Hidden messages', count: 2 }, { label: 'Content of the kind quote', count: 1 }]);
    expect(said.changed).toEqual([{ label: 'Turns without a time got that of a neighbour', count: 1 }]);
    expect(said.total).toBe(11);
    expect(said.lines).toEqual([
      { where: 'Conversation of 2026-01-05 (c1)', what: 'message n3 left out: hidden' },
      { where: '', what: '3 files of the archive aren’t JSON' },
    ]);
  });
});

describe('a file before it is sent', () => {
  it('has a size in words', () => {
    expect([1, 650_000, 12.34 * 1024 ** 2, 200 * 1024 ** 2].map(sizeWords)).toEqual(['1 KiB', '635 KiB', '12.3 MiB', '200 MiB']);
  });

  it('is refused when it can’t be an import', () => {
    expect(refusal([{ size: 10 }], 10)).toBeNull();
    expect(refusal([], 10)).toBeNull();
    expect(refusal([{ size: 0 }], 10)?.message).toBe('This file is empty.');
    expect(refusal([{ size: 1 }, { size: 1 }], 10)?.message).toBe('One file at a time.');
    expect(refusal([{ size: 3 * 1024 ** 2 }], 1024 ** 2)).toMatchObject({ code: 'too_large', message: 'This file has 3 MiB; at most 1 MiB are taken.' });
  });

  it('is known as an export of ours by what it begins with', async () => {
    const file = (text: string) => new File([text], 'f.json');
    expect((await peek(file('[{"mapping": {}}]'))).forest).toBeNull();
    expect((await peek(file('{"format": "arborweb-forest", "version": 1, "forest": {"id": 3, "name": "Café \\"Löwe\\"", "time_zone": "UTC"}, "turns": []}'))).forest).toBe('Café "Löwe"');
    expect((await peek(file('{"format": "arborweb-forest"}'))).forest).toBe('Imported forest');
  });
});
