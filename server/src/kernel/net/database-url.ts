// The text of DATABASE_URL: one host, or several of which one accepts writes. Neither the `URL` of
// Node nor the driver reads several hosts, so each becomes a URL of its own.
import { readUrl } from './url.ts';

interface DatabaseUrl {
  /** One URL for each host, for the driver. */
  hosts: string[];
  /** Whether a host that accepts no writes is skipped. */
  requiresPrimary: boolean;
}

const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/s;

/** The server always writes, so only these values have a meaning. */
const SESSION_ATTRS = ['any', 'read-write', 'primary'];

/** Every mode either encrypts or does not: a mode that falls back to clear text protects nothing. */
const SSL_MODES = ['disable', 'no-verify', 'require', 'verify-ca', 'verify-full'];

/** The driver verifies in all three modes and warns about the first two. */
const verified = (query: string) =>
  query.replace(/(^|&)sslmode=(require|verify-ca)(?=&|$)/g, '$1sslmode=verify-full');

/** The hosts of a valid DATABASE_URL. */
export function readDatabaseUrl(text: string): DatabaseUrl {
  const [, start = '', list = '', path = '', query] = FORM.exec(text) ?? [];
  if (!start) return { hosts: [text], requiresPrimary: false };
  const names = list.split(',');
  const attrs = new URLSearchParams(query ?? '').get('target_session_attrs');
  const rest = `${path}${query === undefined ? '' : `?${verified(query)}`}`;
  return {
    hosts: names.map((name) => `${start}${name}${rest}`),
    requiresPrimary: attrs === null ? names.length > 1 : attrs !== 'any',
  };
}

const isHost = (text: string) => {
  // A Unix socket as ?host= leaves the host empty, which the URL parser rejects.
  const withHost = text.replace(/^(postgres(?:ql)?:\/\/[^/@]*@)(?=[/?])/, '$1localhost');
  return readUrl(withHost) !== undefined;
};

/** The error of a DATABASE_URL. */
export function databaseUrlProblem(text: string): string | undefined {
  if (!FORM.test(text) || !readDatabaseUrl(text).hosts.every(isHost))
    return 'must look like postgresql://user:password@host:5432/database';
  const parameters = new URLSearchParams(text.split('?')[1] ?? '');
  const attrs = parameters.get('target_session_attrs');
  if (attrs !== null && !SESSION_ATTRS.includes(attrs))
    return `must have one of ${SESSION_ATTRS.join(', ')} as target_session_attrs`;
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode))
    return `must have one of ${SSL_MODES.join(', ')} as sslmode`;
  return undefined;
}
