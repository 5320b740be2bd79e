// Cookies of operators. The session cookie is valid only together with the cookie of the browser
// that signed in. Changes require a token that other sites cannot read.
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Effects } from '../../../../kernel/effects.ts';
import { Fault } from '../../../../kernel/fault.ts';
import { randomText, sha256Hex } from '../../../../runtime/security/crypto.ts';
import { isSecureSite, type Site, siteOf } from './site.ts';

/** The prefix makes browsers reject a cookie of another host or without https. */
const nameOf = (name: 'session' | 'device', isSecure: boolean) =>
  `${isSecure ? '__Host-' : ''}operator-${name}`;

const DEVICE_COOKIE_S = 365 * 86_400;
const COOKIE_VALUE = /^rh[bi]_[A-Za-z0-9_-]{43}$/;

/** Secrets in the cookies of a request, or undefined if a cookie is absent or malformed. */
export interface Cookies {
  session: string | undefined;
  device: string | undefined;
}

/** Reads the cookies of an operator. Values in another format are ignored. */
export function readCookies(header: string | undefined, operatorUrl: string | undefined): Cookies {
  const isSecure = isSecureSite(operatorUrl);
  const cookies = header === undefined || header.length > 8_192 ? {} : parseCookie(header);
  const secretIn = (name: 'session' | 'device') => {
    const value = cookies[nameOf(name, isSecure)];
    return value !== undefined && COOKIE_VALUE.test(value) ? value : undefined;
  };
  return { session: secretIn('session'), device: secretIn('device') };
}

const serializeCookie = (
  name: 'session' | 'device',
  value: string,
  maxAge: number,
  { isSecure }: Site,
) =>
  stringifySetCookie({
    name: nameOf(name, isSecure),
    value,
    maxAge,
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: isSecure,
  });

export const sessionCookie = (site: Site, secret: string, maxAge: number): string =>
  serializeCookie('session', secret, maxAge, site);

/** Removes the session cookie. */
export const clearedCookie = (site: Site): string => serializeCookie('session', '', 0, site);

/** The browser of a request: its site, and the secret that identifies it. */
export interface Browser {
  site: Site;
  deviceHash: string;
  /** Sets the device cookie, if the browser has none. */
  newCookies: readonly string[];
  address: string | undefined;
  requestId: string | undefined;
}

interface BrowserRequest {
  host: string | undefined;
  cookie: string | undefined;
  /** Origin of the page that sends the request. Absent outside of browsers. */
  origin: string | undefined;
  address: string | undefined;
  requestId?: string | undefined;
}

/**
 * The browser of a request without a session. Throws FORBIDDEN at another site, and for a page of
 * another origin. Such a page could otherwise sign a visitor in as another user.
 */
export function browserOf(
  effects: Effects,
  operatorUrl: string | undefined,
  { host, cookie: header, origin, address, requestId }: BrowserRequest,
): Browser {
  const site = siteOf(operatorUrl, host);
  if (origin !== undefined && origin !== site.origin) {
    throw new Fault('FORBIDDEN', `Operators sign in on pages of ${site.origin} only.`);
  }
  const { device: existingDevice } = readCookies(header, operatorUrl);
  const device = existingDevice ?? randomText(effects, 'rhb_');
  const newCookies =
    existingDevice === undefined ? [serializeCookie('device', device, DEVICE_COOKIE_S, site)] : [];
  return { site, deviceHash: sha256Hex(device), newCookies, address, requestId };
}
