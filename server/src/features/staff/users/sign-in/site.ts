// The site at which operators sign in. Passkeys are bound to it. Passwords are not accepted at any
// other site, because plain HTTP does not encrypt them. Without a configured HTTPS URL the site
// is `localhost`, because passkeys cannot be bound to an IP address.
import { Fault } from '../../../../kernel/fault.ts';

export interface Site {
  /** Relying party of passkeys: the host name. */
  rpId: string;
  origin: string;
  /** Whether cookies are sent over https only. */
  isSecure: boolean;
}

/** Whether the site is https. Cookies then have a prefix that other hosts cannot set. */
export const isSecureSite = (operatorUrl: string | undefined): boolean =>
  operatorUrl?.startsWith('https:') ?? false;

const forbiddenFault = (reason: string): Fault => new Fault('FORBIDDEN', reason);

/**
 * The site of a request with this Host header. `operatorUrl` is the configured address. Throws
 * FORBIDDEN with the address to use.
 */
export function siteOf(operatorUrl: string | undefined, host = ''): Site {
  if (operatorUrl !== undefined) {
    const { host: expectedHost, hostname, origin, protocol } = new URL(operatorUrl);
    if (protocol === 'https:' || hostname === 'localhost') {
      if (host === expectedHost) return { rpId: hostname, origin, isSecure: protocol === 'https:' };
      throw forbiddenFault(`Operators sign in at ${origin} only.`);
    }
  }
  const [, port = ''] = /^localhost(:\d{1,5})?$/.exec(host) ?? [];
  if (/^localhost(:|$)/.test(host)) {
    return { rpId: 'localhost', origin: `http://localhost${port}`, isSecure: false };
  }
  throw forbiddenFault(
    'Operators sign in over https, or on this machine at http://localhost. Set RAILHEAD_OPERATOR_URL ' +
      'to the HTTPS URL of this server.',
  );
}
