/** The models behind the site: who does what, and for the staff the form that connects one. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { frame } from '../shell/frame';
import type { AppState } from '../state';
import type { Models, ModelRole, ModelTest, Trouble } from '../types';
import { SUGGESTIONS, type ModelsState, type Typed } from './models';
import { checkWords, knownWords, nameOf, ROLE_WORDS, testedWords, tookWords } from './words';

const QUICK = 6;

/** What just came of a test is in view, with the buttons below it. */
const intoView = (element: Element | undefined) => element && requestAnimationFrame(() => element.scrollIntoView({ block: 'nearest' }));

function roleView(role: ModelRole, known: Models, zone: string): TemplateResult {
  const answers = known.roles.find((one) => one.role === 'answer');
  const same = role.role === 'extract' && !role.local && role.model === answers?.model;
  return html`<div class="role" data-testid="role-${role.role}"><dt>${ROLE_WORDS[role.role]}</dt>
    <dd><b dir="auto">${nameOf(role)}</b>${role.address ? html` <span class="second">at ${role.address}</span>` : nothing}
      <small>${same ? 'the same model' : knownWords(role, zone).join(', ')}</small></dd></div>`;
}

const troubleNote = ({ message, action }: Trouble): TemplateResult =>
  html`<div class="note clay" role="alert" data-testid="models-trouble" ${ref(intoView)}>${icon('warn', 18)}<p><b>${message}</b> ${action ?? ''}</p></div>`;

function testView(test: ModelTest, several: boolean): TemplateResult {
  return html`<div class="test" data-testid="test-${test.role}" data-works=${test.works} ${ref(intoView)}>
    ${several ? html`<h4 dir="auto">${testedWords(test)}</h4>` : nothing}
    <ul>${test.checks.map((check) => html`<li class=${check.error ? 'failed' : ''} data-check=${check.check}>${icon(check.error ? 'close' : 'check', 15)}<span>${checkWords(check)}</span><span class="second">${tookWords(check)}</span></li>`)}</ul>
    ${test.error ? html`<div class="note clay" role="alert">${icon('warn', 18)}<p><b>${test.error['message']}</b> ${test.error['action'] ?? ''}</p></div>` : nothing}</div>`;
}

/** What the form says now. The key is read where it is typed and goes no further than the request. */
function typedIn(form: HTMLFormElement, forgetKey: boolean): Typed {
  const value = (name: string) => (form.elements.namedItem(name) as HTMLInputElement).value.trim();
  const api_key = value('api_key');
  return { base_url: value('base_url'), model: value('model'), extract_model: value('extract_model'), ...(api_key || forgetKey ? { api_key } : {}) };
}

const formOf = (event: Event) => (event.currentTarget as Element).closest('form')!;

/** As if it had been typed: whatever listens to the field hears of it. */
function fill(form: HTMLFormElement, name: string, value: string): void {
  const field = form.elements.namedItem(name) as HTMLInputElement;
  field.value = value;
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

function addressField(known: Models, fixed: boolean, actions: Actions): TemplateResult {
  return html`<label for="base-url">Address</label>
    <input id="base-url" name="base_url" type="url" inputmode="url" spellcheck="false" autocomplete="off" autocapitalize="off" maxlength="500" required ?disabled=${fixed}
      placeholder="http://127.0.0.1:11434/v1" .value=${known.connection.base_url ?? ''} @input=${() => actions.models.changed('server')}>
    ${fixed
      ? nothing
      : html`<div class="quick" role="group" aria-label="Usual servers">${SUGGESTIONS.map(([name, address]) =>
          html`<button type="button" class="chip" title=${address} @click=${(event: Event) => fill(formOf(event), 'base_url', address)}>${name}</button>`)}</div>`}`;
}

function keyField(known: Models, { forgetKey }: ModelsState, fixed: boolean, actions: Actions): TemplateResult {
  const kept = known.connection.has_key && !forgetKey;
  return html`<label for="api-key">Key</label>
    <div class="with-button"><input id="api-key" name="api_key" type="password" autocomplete="off" maxlength="4096" ?disabled=${fixed} aria-describedby="key-hint"
        placeholder=${fixed ? (kept ? 'Set, and shown to nobody' : 'None is set') : kept ? 'A key is kept' : 'None is needed for most local servers'} @input=${() => actions.models.changed('model')}>
      ${kept && !fixed ? html`<button type="button" class="button small" data-testid="forget-key" @click=${() => actions.models.forgetKey()}>Forget it</button>` : nothing}</div>
    <p id="key-hint" class="second">${kept && !fixed ? 'The kept key is used for this address only, and never shown.' : forgetKey ? 'The kept key goes when you press Use.' : nothing}</p>`;
}

function modelFields(known: Models, { found, doing }: ModelsState, fixed: boolean, actions: Actions, typed: (event: Event) => Typed): TemplateResult {
  const field = (id: string, name: 'model' | 'extract_model', placeholder: string) =>
    html`<input id=${id} name=${name} type="text" list="models-found" spellcheck="false" autocomplete="off" autocapitalize="off" maxlength="200" ?disabled=${fixed}
      placeholder=${placeholder} .value=${known.connection[name]} @input=${() => actions.models.changed('model')}>`;
  return html`<label for="answer-model">Answers</label>
    <div class="with-button">${field('answer-model', 'model', found.length ? 'Choose one' : 'Name of a model')}
      ${fixed ? nothing : html`<button type="button" class="button small" data-testid="look" ?disabled=${doing !== null} @click=${(event: Event) => valid(event) && actions.models.look(typed(event))}>${
        doing === 'look' ? 'Looking…' : 'Look for models'}</button>`}</div>
    <datalist id="models-found">${found.map((name) => html`<option value=${name}></option>`)}</datalist>
    ${found.length && !fixed
      ? html`<div class="quick" role="group" aria-label="Models found" data-testid="found">${found.slice(0, QUICK).map((name) =>
          html`<button type="button" class="chip" @click=${(event: Event) => fill(formOf(event), 'model', name)}><span>${name}</span></button>`)}
          ${found.length > QUICK ? html`<span class="second">and ${(found.length - QUICK).toLocaleString('en')} more in the field’s list</span>` : nothing}</div>`
      : nothing}
    <label for="extract-model">Reads turns into memory</label>
    ${field('extract-model', 'extract_model', 'The same model')}`;
}

/** Whether the browser finds the form complete; says so at the field that isn't. */
const valid = (event: Event) => formOf(event).reportValidity();

function form(known: Models, state: AppState, actions: Actions): TemplateResult {
  const { models } = state;
  const fixed = known.connection.source === 'environment';
  const busy = models.doing !== null;
  const typed = (event: Event) => typedIn(formOf(event), models.forgetKey);
  const works = models.tests.length > 0 && models.tests.every((test) => test.works) && models.tests[0]!.checks.length > 1;
  const looked = models.tests.every((test) => test.works && test.checks.length === 1);
  return html`<form class="connect" novalidate data-testid="connect" aria-label="Connect a model" aria-busy=${busy}
      @submit=${(event: Event) => {
        event.preventDefault();
        if (fixed) actions.models.test(null);
        else if ((event.currentTarget as HTMLFormElement).reportValidity()) actions.models.test(typed(event));
      }}>
    ${fixed
      ? html`<div class="note plain" data-testid="fixed">${icon('pin', 18)}<p><b>Set by the environment of the server.</b> To connect a model here, take OPENAI_BASE_URL out of it and start the server again.</p></div>`
      : html`<h3>${known.connection.source === 'page' ? 'Connected here' : 'Connect a model'}</h3>
          <p class="second">Any server with an OpenAI-compatible API. It answers for everyone on this site, and is sent what a turn needs of their memory.</p>`}
    ${addressField(known, fixed, actions)}
    ${keyField(known, models, fixed, actions)}
    ${modelFields(known, models, fixed, actions, typed)}
    <div class="tests" role="status" data-testid="tests">
      ${models.doing === 'test' ? html`<p class="second waiting">Asking the server. A local model may have to be loaded first.</p>` : nothing}
      ${looked ? nothing : models.tests.map((test) => testView(test, models.tests.length > 1))}
      ${models.trouble ? troubleNote(models.trouble) : nothing}
    </div>
    <div class="dialog-actions">
      ${known.connection.source === 'page' ? html`<button type="button" class="button leave" data-testid="disconnect" ?disabled=${busy} @click=${() => actions.models.leave()}>Disconnect</button>` : nothing}
      <button type="submit" class="button ${works || fixed ? '' : 'primary'}" data-testid="test" ?disabled=${busy}>${models.doing === 'test' ? 'Testing…' : 'Test'}</button>
      ${fixed
        ? nothing
        : html`<button type="button" class="button ${works ? 'primary' : ''}" data-testid="use" ?disabled=${busy} @click=${(event: Event) => valid(event) && actions.models.use(typed(event))}>${
            models.doing === 'use' ? 'Connecting…' : 'Use it'}</button>`}
    </div></form>`;
}

const LEADS: Record<Models['connection']['source'], string> = {
  none: 'No language model is connected. Answers quote what you said and compute dates and sums; a model answers freely, and learns more from what you say. What is remembered then stays as it is.',
  page: 'Answers come from a language model that is connected here.',
  environment: 'Answers come from a language model that whoever runs the server has set.',
};

export function modelsDialog(state: AppState, actions: Actions): TemplateResult {
  const { known, trouble } = state.models;
  const zone = state.forest?.time_zone ?? state.me?.time_zone ?? 'UTC';
  if (!known) return frame('Models', html`<div class="models">${trouble ? troubleNote(trouble) : html`<p class="second">Asking the server…</p>`}</div>`, actions);
  return frame('Models', html`<div class="models" data-testid="models">
    <p class="dialog-lead">${LEADS[known.connection.source]}</p>
    <dl class="roles">${known.roles.map((role) => roleView(role, known, zone))}</dl>
    ${state.me?.is_staff
      ? form(known, state, actions)
      : known.connection.source === 'none'
        ? html`<p class="second" data-testid="ask-staff">A model is connected by the staff of this site, for everyone on it. Ask whoever runs it.</p>`
        : nothing}
  </div>`, actions);
}
