// Parser of DATABASE_URL with one host, or with several hosts of which one accepts writes. `URL` of Node
// and the driver support one host only, so each host becomes a separate URL.
import { readUrl } from './url.ts';

interface DatabaseUrl {
  /** A URL for each host, for the driver. */
  hosts: string[];
  /** Whether a host that accepts no writes is skipped. */
  requiresPrimary: boolean;
}

const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/s;

/** Supported values. The server always needs a host that accepts writes. */
const SESSION_ATTRS = ['any', 'read-write', 'primary'];

/** Modes that fall back to clear text are excluded, because they provide no protection. */
const SSL_MODES = ['disable', 'no-verify', 'require', 'verify-ca', 'verify-full'];

/** Replaces modes that the driver treats like `verify-full` but reports with a warning. */
const requireVerification = (query: string) =>
  query.replace(/(^|&)sslmode=(require|verify-ca)(?=&|$)/g, '$1sslmode=verify-full');

/** The hosts of a valid DATABASE_URL. */
export function readDatabaseUrl(text: string): DatabaseUrl {
  const [, prefix = '', hostList = '', path = '', query] = FORM.exec(text) ?? [];
  if (!prefix) return { hosts: [text], requiresPrimary: false };
  const hostNames = hostList.split(',');
  const sessionAttrs = new URLSearchParams(query ?? '').get('target_session_attrs');
  const suffix = `${path}${query === undefined ? '' : `?${requireVerification(query)}`}`;
  return {
    hosts: hostNames.map((name) => `${prefix}${name}${suffix}`),
    requiresPrimary: sessionAttrs === null ? hostNames.length > 1 : sessionAttrs !== 'any',
  };
}

const isHost = (text: string) => {
  // With a Unix socket in ?host= the host is empty, which the URL parser rejects.
  const withHost = text.replace(/^(postgres(?:ql)?:\/\/[^/@]*@)(?=[/?])/, '$1localhost');
  return readUrl(withHost) !== undefined;
};

/** The error of a DATABASE_URL. */
export function databaseUrlProblem(text: string): string | undefined {
  if (!FORM.test(text) || !readDatabaseUrl(text).hosts.every(isHost))
    return 'must look like postgresql://user:password@host:5432/database';
  const parameters = new URLSearchParams(text.split('?')[1] ?? '');
  const sessionAttrs = parameters.get('target_session_attrs');
  if (sessionAttrs !== null && !SESSION_ATTRS.includes(sessionAttrs))
    return `must have one of ${SESSION_ATTRS.join(', ')} as target_session_attrs`;
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode))
    return `must have one of ${SSL_MODES.join(', ')} as sslmode`;
  return undefined;
}
