// The request of the form: its initial values from an example, and the arguments of `fetch`.
import { reactive } from 'vue';

/** Kept in memory only, until the site is closed or loaded again. */
export const credentials = reactive({ clientId: '', clientSecret: '', agentToken: '' });

/** IDs of recorded examples for which the server has no resource. */
const EXAMPLE_ID = /\b[A-Za-z]+:019b8d60-[0-9a-f-]+/g;

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** A UUID. `crypto.randomUUID` exists only on pages with HTTPS and on a local computer. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Values of the fields for an example. */
export function valuesOf({ parameters, contentType }, example) {
  const entries = parameters.map(({ name, required }) => {
    const value = example?.parameters[name];
    const isKey = name === IDEMPOTENCY_KEY && (required || value !== undefined);
    // A repeated key would return the first reply.
    return [name, isKey ? newKey() : String(value ?? '')];
  });
  const isForm = contentType === 'multipart/form-data';
  return {
    parameters: Object.fromEntries(entries),
    // Browsers do not permit a prefilled file.
    fields: isForm ? { ...example?.body, file: undefined } : {},
    body: isForm || contentType === undefined ? '' : JSON.stringify(example?.body ?? {}, null, 2),
  };
}

/** Types of the IDs that belong to no resource of this server, such as `Document`. */
export function missingTypes({ parameters, body }) {
  const ids = [...Object.values(parameters), body].join(' ').match(EXAMPLE_ID) ?? [];
  return [...new Set(ids.map((id) => id.slice(0, id.indexOf(':'))))];
}

/** Text of the error if a text is not valid JSON, or undefined. */
export function jsonError(text) {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `The body must be valid JSON: ${error.message}.`;
  }
}

/** Encodes credentials with characters outside ASCII as UTF-8. */
const encodeBase64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const AUTHORIZATION = {
  client: () => `Basic ${encodeBase64(`${credentials.clientId}:${credentials.clientSecret}`)}`,
  agent: () => `Bearer ${credentials.agentToken}`,
  none: () => undefined,
};

function formDataOf(fields) {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== '') data.append(name, value);
  return data;
}

const locatedIn = ({ parameters }, location, values) =>
  parameters
    .filter(({ name, in: place }) => place === location && values[name] !== '')
    .map(({ name }) => [name, values[name]]);

/** Browsers remove segments of dots from an address, so the request would have another path. */
function pathSegment(value = '') {
  if (/^\.{1,2}$/.test(value)) throw new Error('A parameter of the path must not be "." or "..".');
  return encodeURIComponent(value);
}

/** Address and options for `fetch`. */
export function requestOf(form, { parameters, fields, body }) {
  const pathValues = Object.fromEntries(locatedIn(form, 'path', parameters));
  const path = form.path.replaceAll(/\{(\w+)\}/g, (_, name) => pathSegment(pathValues[name]));
  const query = new URLSearchParams(locatedIn(form, 'query', parameters)).toString();
  const authorization = AUTHORIZATION[form.credential]();
  const isJson = form.contentType === 'application/json';
  const headers = {
    ...Object.fromEntries(locatedIn(form, 'header', parameters)),
    ...(authorization && { Authorization: authorization }),
    ...(isJson && { 'Content-Type': 'application/json' }),
  };
  const hasBody = form.contentType !== undefined;
  return {
    url: query ? `${path}?${query}` : path,
    options: {
      method: form.method,
      headers,
      // The cookie of an operator does not belong to this request.
      credentials: 'omit',
      ...(hasBody && { body: isJson ? body : formDataOf(fields) }),
    },
  };
}

/** Longer replies are shown in part, because formatting them would block the page. */
const MAX_SHOWN = 200_000;

/** The body of a reply as it is shown, its error code, and whether the text is complete. */
export function presentReply(text) {
  if (text.length > MAX_SHOWN) return { text: text.slice(0, MAX_SHOWN), isPartial: true };
  try {
    const body = JSON.parse(text);
    return { text: JSON.stringify(body, null, 2), errorCode: body?.code };
  } catch {
    return { text };
  }
}
