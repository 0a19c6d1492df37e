/** What stands where something isn't here: nothing while it is fetched (a hairline says so), or why not. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { icon } from '../icons';
import type { Loaded } from '../state';

export const whatIsMissing = (loaded: Loaded<unknown>): TemplateResult =>
  loaded.status === 'failed'
    ? html`<div class="note clay" role="alert">${icon('warn', 18)}<p><b>${loaded.trouble.message}</b> ${loaded.trouble.action}</p></div>`
    : html`${nothing}`;
