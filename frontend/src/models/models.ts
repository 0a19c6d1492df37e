/** What the page knows of the models behind the site, and of the form that connects one. */

import type { Models, ModelTest, Trouble } from '../types';

export interface ModelsState {
  known: Models | null;
  /** What the form waits for. */
  doing: 'look' | 'test' | 'use' | 'leave' | null;
  /** Names that the server which was asked last lists. */
  found: readonly string[];
  tests: readonly ModelTest[];
  trouble: Trouble | null;
  /** The kept key goes with the next save. */
  forgetKey: boolean;
  /** The line that says “offline” was put away in this browser. */
  noteClosed: boolean;
}

export const noModels = (): ModelsState => ({ known: null, doing: null, found: [], tests: [], trouble: null, forgetKey: false, noteClosed: false });

/** What is typed in the form. Without `api_key` the kept one stays. */
export interface Typed {
  base_url: string;
  model: string;
  extract_model: string;
  api_key?: string;
}

export const SUGGESTIONS: readonly (readonly [name: string, address: string])[] = [
  ['Ollama', 'http://127.0.0.1:11434/v1'],
  ['LM Studio', 'http://127.0.0.1:1234/v1'],
  ['llama.cpp', 'http://127.0.0.1:8080/v1'],
  ['OpenAI', 'https://api.openai.com/v1'],
  ['OpenRouter', 'https://openrouter.ai/api/v1'],
];

export interface Choice {
  /** The model that answers next; `usual` is the site's. */
  answers: string;
  usual: string;
  names: readonly string[];
  /** The model that was chosen and is offered no more. */
  gone: string | null;
}

/** Who answers next in a forest that chose `chosen`; null while nothing is connected or nothing can be chosen. */
export function choiceOf(known: Models | null, chosen: string): Choice | null {
  if (!known || known.connection.source === 'none') return null;
  const usual = known.connection.model || 'default';
  const names = known.choices.includes(usual) ? known.choices : [usual, ...known.choices];
  const gone = chosen && !known.choices.includes(chosen) ? chosen : null;
  if (names.length < 2 && !gone) return null;
  return { answers: chosen && !gone ? chosen : usual, usual, names, gone };
}
