// Public and internal addresses of endpoints, other notations of internal addresses, and permitted ports.
import { describe, expect, it } from 'vitest';
import {
  type EndpointRule,
  endpointProblem,
  isLoopbackHost,
  isPublicAddress,
  mustBePublic,
} from './endpoint.ts';

const PRODUCTION: EndpointRule = { environment: 'production', loopback: true };
const SANDBOX: EndpointRule = { environment: 'sandbox', loopback: true };
const WITHOUT_LOOPBACK: EndpointRule = { environment: 'sandbox', loopback: false };

/** Addresses to which the server must not connect for a platform, with the reason. */
const INTERNAL_ADDRESSES: readonly [string, string][] = [
  ['0.0.0.0', 'this host'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private, last'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['100.100.100.200', 'metadata of a cloud inside carrier-grade NAT'],
  ['100.127.255.255', 'carrier-grade NAT, last'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback, last'],
  ['168.63.129.16', 'host service of a cloud'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'metadata'],
  ['169.254.170.2', 'metadata of containers'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private, last'],
  ['192.0.0.192', 'metadata in a reserved block'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', '6to4 relay'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'benchmarking'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.9', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'IPv4-mapped loopback'],
  ['::ffff:8.8.8.8', 'IPv4-mapped, regardless of the target'],
  ['::ffff:0:10.0.0.1', 'IPv4-translated'],
  ['64:ff9b::a9fe:a9fe', 'NAT64 to metadata'],
  ['64:ff9b:1::10.0.0.1', 'local NAT64'],
  ['100::1', 'discard'],
  ['2001::1', 'Teredo'],
  ['2001:2::1', 'benchmarking'],
  ['2001:10::1', 'ORCHID'],
  ['2001:20::1', 'ORCHID v2'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', '6to4 to loopback'],
  ['2002:a00:1::1', '6to4 to private'],
  ['3fff::1', 'documentation'],
  ['5f00::1', 'segment routing'],
  ['4000::1', 'not assigned'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'metadata over IPv6'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['2606:4700::1%eth0', 'any address with a zone is local'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['', 'an empty text'],
  ['localhost', 'a name'],
];

const PUBLIC_ADDRESSES = [
  '8.8.8.8',
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '2a00::1',
];

describe('isPublicAddress', () => {
  it.each(INTERNAL_ADDRESSES)('rejects %s (%s)', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(PUBLIC_ADDRESSES)('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

/** Other notations and names of internal addresses. */
const INTERNAL_URLS = [
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://127.0.0.1./',
  'https://%31%32%37.0.0.1/',
  'https://１２７.0.0.1/',
  'https://①②⑦.0.0.1/',
  'https://[::ffff:7f00:1]/',
  'https://[0:0:0:0:0:ffff:127.0.0.1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://0xa9fea9fe/latest/meta-data',
  'https://3232235777/',
  'https://0/',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://a.localhost/',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://intranet/',
  'https://[::1]:8443/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
];

describe('endpointProblem', () => {
  it.each(INTERNAL_ADDRESSES.slice(0, 26).map(([address]) => address))(
    'rejects https://%s in production, and in the sandbox except for loopback',
    (address) => {
      expect(endpointProblem(`https://${address}/hook`, PRODUCTION)).not.toBeNull();
      const isLoopback = address.startsWith('127.');
      expect(endpointProblem(`https://${address}/hook`, SANDBOX) === null).toBe(isLoopback);
    },
  );

  it.each(INTERNAL_URLS)('rejects %s in production', (url) => {
    expect(endpointProblem(url, PRODUCTION)).not.toBeNull();
  });

  it.each([
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'gopher://hooks.example.com/',
    'javascript:alert(1)',
    'hooks.example.com/path',
    '//hooks.example.com',
    'https:hooks.example.com',
    'https://',
    'https://user@hooks.example.com/',
    'https://user:secret@hooks.example.com/',
    'https://hooks.example.com:99999/',
    `https://hooks.example.com/${'a'.repeat(2_048)}`,
    '',
  ])('rejects %s everywhere', (url) => {
    expect(endpointProblem(url, PRODUCTION)).not.toBeNull();
    expect(endpointProblem(url, SANDBOX)).not.toBeNull();
  });

  it.each([
    'https://hooks.example.com',
    'https://hooks.example.com:8443/a?b=c',
    'HTTPS://hooks.example.com/',
    'https://8.8.8.8/hook',
    'https://[2606:4700::1111]/hook',
    'https://bücher.example/',
  ])('accepts %s everywhere', (url) => {
    expect(endpointProblem(url, PRODUCTION)).toBeNull();
    expect(endpointProblem(url, SANDBOX)).toBeNull();
  });

  it.each(['http://localhost:4001/', 'https://127.0.0.1:4001', 'http://[::1]:1/', 'http://127.1/'])(
    'accepts %s in the sandbox only',
    (url) => {
      expect(endpointProblem(url, SANDBOX)).toBeNull();
      expect(endpointProblem(url, PRODUCTION)).not.toBeNull();
      expect(endpointProblem(url, WITHOUT_LOOPBACK)).toContain('loopback address');
    },
  );

  it.each([...INTERNAL_URLS, 'http://localhost:4001/', 'http://127.1:9/'])(
    'rejects %s in a sandbox without loopback webhooks',
    (url) => expect(endpointProblem(url, WITHOUT_LOOPBACK)).not.toBeNull(),
  );

  it.each([1, 22, 25, 80, 442, 444, 465, 587, 993, 1_023])(
    'rejects port %i in production only',
    (port) => {
      const url = `https://hooks.example.com:${port}/`;
      expect(endpointProblem(url, PRODUCTION)).toBe(
        'must use port 443 or a port from 1024 to 65535',
      );
      expect(endpointProblem(url, SANDBOX)).toBeNull();
    },
  );

  it.each([443, 1_024, 8_443, 65_535])('accepts port %i in production', (port) => {
    expect(endpointProblem(`https://hooks.example.com:${port}/`, PRODUCTION)).toBeNull();
    expect(endpointProblem(`https://8.8.8.8:${port}/`, PRODUCTION)).toBeNull();
  });
});

describe('mustBePublic', () => {
  it('returns false only for a loopback address', () => {
    expect(mustBePublic('http://localhost:1/')).toBe(false);
    expect(mustBePublic('http://[::1]/')).toBe(false);
    expect(mustBePublic('https://10.0.0.1/')).toBe(true);
    expect(mustBePublic('https://localhost.example.com/')).toBe(true);
    expect(mustBePublic('nonsense')).toBe(true);
    expect(isLoopbackHost('127.0.0.1.example.com')).toBe(false);
  });
});
