// Addresses that the server may call for a platform. Only public addresses are accepted, to prevent
// requests to the network of the operator (SSRF). In the sandbox, the operator can also allow this
// machine. A URL is checked when it is set and when it is called, and the resolved addresses are checked
// when connecting (runtime/config/system-effects.ts).
import ipaddr from 'ipaddr.js';
import { readUrl } from './url.ts';

/** Maximum characters of an endpoint URL. */
const MAX_URL = 2_048;

/** Service address of the host at one cloud (Azure), in a public range. */
const HOST_SERVICES = new Set(['168.63.129.16']);

/**
 * Block of the IPv6 addresses of the public internet. All other IPv6 addresses are rejected.
 */
const PUBLIC_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** The name or address of a URL's host, without brackets and the trailing dot of a rooted name. */
const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');

/**
 * Whether a literal IP address is public. False for private, loopback, link-local, carrier-grade NAT,
 * multicast, reserved and documentation addresses. Link-local addresses include the metadata services of
 * clouds. Also false for an IPv6 form that embeds an IPv4 address (mapped, NAT64, 6to4, Teredo), whose
 * target cannot be checked.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsedAddress = ipaddr.parse(address);
  if (parsedAddress.range() !== 'unicast' || HOST_SERVICES.has(parsedAddress.toString()))
    return false;
  return parsedAddress instanceof ipaddr.IPv6
    ? !parsedAddress.zoneId && parsedAddress.match(PUBLIC_IPV6)
    : true;
}

/** Whether a text is an IPv6 address or an IPv4 address of four decimal numbers. */
export const isIpAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text));

/** Whether a host is this machine by its name or address, regardless of name resolution. */
export function isLoopbackHost(hostname: string): boolean {
  const host = bareHost(hostname).toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return ipaddr.isValid(host) && ipaddr.parse(host).range() === 'loopback';
}

function publicHostProblem(hostname: string): string | null {
  const host = bareHost(hostname).toLowerCase();
  if (ipaddr.isValid(host)) return isPublicAddress(host) ? null : 'must not be a private address';
  if (isLoopbackHost(host)) return 'must not be a loopback address';
  const topLevel = host.slice(host.lastIndexOf('.') + 1);
  const isInternal =
    !host.includes('.') || ['local', 'internal', 'lan', 'home', 'corp'].includes(topLevel);
  return isInternal ? 'must be a public host name' : null;
}

/**
 * Whether the server must verify that all addresses of the host are public before a call.
 */
export const mustBePublic = (url: string): boolean => !isLoopbackHost(readUrl(url)?.hostname ?? '');

/** Conditions of the rule that depend on the platform and on the operator. */
export interface EndpointRule {
  environment: 'sandbox' | 'production';
  /** Whether sandbox platforms may use this machine, with http or https (RAILHEAD_LOOPBACK_WEBHOOKS). */
  loopback: boolean;
}

/** The parsed URL, or the error of its syntax. */
function readEndpoint(endpoint: string): URL | string {
  if (endpoint.length > MAX_URL) return `must not be longer than ${MAX_URL} characters`;
  const url = /^https?:\/\//i.test(endpoint) && readUrl(endpoint);
  if (!url) return 'must be an https URL';
  return url.username || url.password ? 'must not contain a user name or password' : url;
}

const publicProblem = ({ protocol, hostname }: URL): string | null =>
  protocol === 'https:' ? publicHostProblem(hostname) : 'must be an https URL';

/** The error of a URL that must have a public address. Null if valid. */
export function publicUrlProblem(text: string): string | null {
  const url = readEndpoint(text);
  return typeof url === 'string' ? url : publicProblem(url);
}

/** Ports below 1024 are assigned to other protocols, whose servers may misinterpret a request. */
const isProductionPort = ({ port }: URL) => port === '' || port === '443' || Number(port) >= 1_024;

/**
 * The error of a webhook endpoint, as a predicate that follows the field name. Null if valid. A
 * production platform needs https, a public host and an unprivileged port or 443. A sandbox platform may
 * also use this machine if the operator allows it. Resolved addresses are checked when connecting.
 */
export function endpointProblem(
  endpoint: string,
  { environment, loopback }: EndpointRule,
): string | null {
  const url = readEndpoint(endpoint);
  if (typeof url === 'string') return url;
  if (environment === 'sandbox' && isLoopbackHost(url.hostname)) {
    return loopback
      ? null
      : 'must not be a loopback address, because the operator does not allow loopback webhooks';
  }
  const problem = publicProblem(url);
  if (problem || environment === 'sandbox' || isProductionPort(url)) return problem;
  return 'must use port 443 or a port from 1024 to 65535';
}
