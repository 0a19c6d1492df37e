/** Sends a file and tells how far it is, which `fetch` can't. */

import { ApiError, csrfToken, problemOf } from '../api';
import type { Job } from '../types';

export interface Upload {
  done: Promise<Job>;
  stop(): void;
}

export class Stopped extends Error {}

export function sendFile(forest: number, file: File, relocalize: boolean, told: (sent: number, total: number) => void): Upload {
  const request = new XMLHttpRequest();
  const done = new Promise<Job>((resolve, reject) => {
    request.open('POST', `/api/forests/${forest}/import/${relocalize ? '?relocalize=1' : ''}`);
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('X-CSRFToken', csrfToken());
    request.responseType = 'json';
    request.upload.onprogress = (event) => told(event.loaded, event.total);
    request.onload = () => (request.status === 202 ? resolve(request.response as Job) : reject(problemOf(request.status, request.response)));
    request.onabort = () => reject(new Stopped());
    request.onerror = () => reject(new ApiError(0, 'unreachable', 'The file didn’t arrive: the server can’t be reached, or it hung up.', 'Check the connection and send it again.'));
    const form = new FormData();
    form.append('file', file);
    request.send(form);
  });
  return { done, stop: () => request.abort() };
}
