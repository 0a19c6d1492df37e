import { describe, expect, it } from 'vitest';
import type { ModelRole, Models } from '../types';
import { choiceOf } from './models';
import { knownWords, nameOf, shortName } from './words';

const role = (more: Partial<ModelRole>): ModelRole => ({
  role: 'answer', model: 'large', address: null, local: false, structured: null, streaming_usage: null, rejected: [], context_length: null, vector_length: null,
  price_input: null, price_output: null, probed_at: null, ...more,
});

describe('what is known of a model', () => {
  it('says nothing of what isn’t known', () => {
    expect(knownWords(role({}), 'UTC')).toEqual(['not asked yet']);
  });
  it('says what is, in plain words', () => {
    const words = knownWords(role({ context_length: 8192, structured: 'json_schema', streaming_usage: false, price_input: 0.5, price_output: 1.5, rejected: ['temperature', 'stream_options'], probed_at: '2020-11-30T10:00:00Z' }), 'UTC');
    expect(words.slice(0, -1)).toEqual(['reads up to 8,192 tokens', 'keeps to a given form', 'its tokens are counted here', 'costs 0.5 in, 1.5 out a million tokens', 'takes no temperature, no stream_options']);
    expect(words.at(-1)).toMatch(/^last asked Monday 30 November 2020 10:00$/);
  });
  it('names what answers here without a model', () => {
    const offline = role({ local: true, model: 'offline' });
    expect([nameOf(offline), ...knownWords(offline, 'UTC')]).toEqual(['Offline engine', 'quotes what you said, computes dates and sums']);
    expect(knownWords(role({ role: 'embed', local: true, model: 'all-MiniLM-L6-v2 int8' }), 'UTC')).toEqual(['on this server']);
  });
  it('shortens a name that begins with its maker', () => {
    expect([shortName('openai/gpt-oss-20b'), shortName('qwen3:8b')]).toEqual(['gpt-oss-20b', 'qwen3:8b']);
  });
});

describe('who answers next', () => {
  const known = (model: string, choices: string[], source: 'page' | 'none' = 'page'): Models => ({
    localizer: 'calibrated', roles: [], choices, connection: { source, base_url: null, has_key: false, model, extract_model: '' },
  });
  it('is nobody’s choice while nothing or one model is there', () => {
    expect([choiceOf(null, ''), choiceOf(known('', [], 'none'), ''), choiceOf(known('a', ['a']), ''), choiceOf(known('a', []), '')]).toEqual([null, null, null, null]);
  });
  it('is the usual one, or the one that was chosen', () => {
    expect(choiceOf(known('a', ['a', 'b']), '')).toEqual({ answers: 'a', usual: 'a', names: ['a', 'b'], gone: null });
    expect(choiceOf(known('a', ['a', 'b']), 'b')).toMatchObject({ answers: 'b', usual: 'a' });
  });
  it('keeps the usual one among the choices, listed or not', () => {
    expect(choiceOf(known('', ['b', 'c']), '')).toMatchObject({ answers: 'default', names: ['default', 'b', 'c'] });
  });
  it('is the usual one again when the chosen one is gone, and says so', () => {
    expect(choiceOf(known('a', ['a']), 'b')).toEqual({ answers: 'a', usual: 'a', names: ['a'], gone: 'b' });
  });
});
