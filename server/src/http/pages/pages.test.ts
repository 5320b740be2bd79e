// Rules for all pages with a secret link: content security policy, brand of the platform, framing origins,
// card details and prefetching.
import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import type { CardFace, HostedPage, PageBrand, PageContent } from '../../kernel/contract/page.ts';
import { addPages } from './pages.ts';

const PLAIN_PAGE: PageContent = { status: 200, title: 'Here', lines: ['A line.'] };

/** A server with one page, and the secrets of its views. */
function serverWith(content: PageContent, overrides: Partial<HostedPage> = {}) {
  const server = Fastify();
  const requestedSecrets: string[] = [];
  const show = async (secret: string) => {
    requestedSecrets.push(secret);
    return content;
  };
  addPages(server, [{ path: '/p', show, ...overrides }]);
  const open = (
    method: 'GET' | 'HEAD' | 'POST' = 'GET',
    headers: Record<string, string> = {},
    query = '',
  ) => server.inject({ method, url: `/p/s3cret${query}`, headers });
  return { open, requestedSecrets };
}

/** The directives of a policy, by name. */
function policyOf(text: unknown): Record<string, string> {
  const directives = String(text).split('; ');
  return Object.fromEntries(
    directives.map((each) => [each.split(' ')[0], each.replace(/^\S+ ?/, '')]),
  );
}

describe('a page', () => {
  it('permits no scripts, frames or content of other origins', async () => {
    const { headers, body, statusCode } = await serverWith(PLAIN_PAGE).open();
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex',
    });
    expect(policyOf(headers['content-security-policy'])).toEqual({
      'default-src': "'none'",
      'style-src': expect.stringMatching(/^'sha256-[\w+/]{43}='$/),
      'form-action': "'none'",
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
    });
    expect(body).not.toMatch(/<(dl|header|footer|script|img)\b/);
  });

  it('may post its form to its own address', async () => {
    const { open } = serverWith(
      { ...PLAIN_PAGE, button: 'Yes' },
      { confirm: async () => PLAIN_PAGE },
    );
    const { headers, body } = await open();
    const policy = policyOf(headers['content-security-policy']);
    expect(policy['form-action']).toBe("'self'");
    expect(policy).not.toHaveProperty('sandbox');
    expect(body).toContain('<button type="submit" class="primary">Yes</button>');
    expect((await open('POST')).body).not.toContain('<button');
  });

  it('can be framed only by the configured origins', async () => {
    const frames = ['https://shop.example', 'http://localhost:8080'];
    const { headers } = await serverWith({ ...PLAIN_PAGE, frames }).open();
    expect(headers).not.toHaveProperty('x-frame-options');
    expect(policyOf(headers['content-security-policy'])).toMatchObject({
      'frame-ancestors': 'https://shop.example http://localhost:8080',
    });
    const unframedReply = await serverWith({ ...PLAIN_PAGE, frames: [] }).open();
    expect(unframedReply.headers).toMatchObject({ 'x-frame-options': 'DENY' });
    expect(unframedReply.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it('shows names and values as text', async () => {
    const details = [
      { label: 'A & B', value: '4111 1100 0000 0000' },
      { label: 'C', value: '<b>7</b>' },
    ];
    const notes = [{ title: 'Why <i>', lines: ['Because "x".'] }];
    const { body, headers } = await serverWith({ ...PLAIN_PAGE, details, notes }).open();
    expect(policyOf(headers['content-security-policy'])).not.toHaveProperty('sandbox');
    expect(body).toContain(
      '<dl>\n<div><dt>A &#38; B</dt>\n<dd><span class="code">4111 1100 0000 0000</span></dd></div>\n' +
        '<div><dt>C</dt>\n<dd><span ' +
        'class="code">&#60;b&#62;7&#60;/b&#62;</span></dd></div>\n</dl>\n',
    );
    expect(body).toContain('<h2>Why &#60;i&#62;</h2>\n<p>Because &#34;x&#34;.</p>');
  });

  it('shows the declined text with a link to the form, without a confirmation', async () => {
    const decline = { label: 'No', title: 'Nothing changed', lines: ['Close this page.'] };
    const confirmedSecrets: string[] = [];
    const confirm = async (secret: string) => {
      confirmedSecrets.push(secret);
      return PLAIN_PAGE;
    };
    const { open } = serverWith({ ...PLAIN_PAGE, button: 'Yes', decline }, { confirm });
    expect((await open()).body).toContain('<a class="button" href="?answer=no">No</a>');
    const { statusCode, body, headers } = await open('GET', {}, '?answer=no');
    expect(statusCode).toBe(200);
    expect(body).toContain('<h1>Nothing changed</h1>');
    expect(body).toContain('<a href="?">Back</a>');
    expect(body).not.toContain('<button');
    expect(policyOf(headers['content-security-policy'])['form-action']).toBe("'none'");
    expect(confirmedSecrets).toEqual([]);
  });

  it('without a button accepts no input', async () => {
    const { open, requestedSecrets } = serverWith(PLAIN_PAGE);
    expect((await open('POST')).statusCode).toBe(404);
    expect(requestedSecrets).toEqual([]);
    expect((await open('HEAD')).statusCode).toBe(200);
  });
});

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The inline scripts or styles of an element. */
const inlineContents = (body: string, tag: string) =>
  [...body.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(([, text]) => text as string);

describe('the brand of a page', () => {
  const SHOP: PageBrand = { name: 'Shop & <Co>', isSandbox: false };
  const serverWithBrand = (overrides: Partial<PageBrand>) =>
    serverWith({ ...PLAIN_PAGE, brand: { ...SHOP, ...overrides } }).open();

  it('includes the name in header and title, with a label in the sandbox', async () => {
    const { body } = await serverWithBrand({});
    expect(body).toContain('<title>Here – Shop &#38; &#60;Co&#62;</title>');
    expect(body).toContain('<span class="platform">Shop &#38; &#60;Co&#62;</span>');
    expect(body).not.toContain('<b>Sandbox</b>');
    expect((await serverWithBrand({ isSandbox: true })).body).toContain('<b>Sandbox</b>');
  });

  it('includes a logo from its origin only, without a referrer', async () => {
    const logoUrl = 'https://cdn.shop.example:8443/logo.png?a=1&b="2"';
    const { body, headers } = await serverWithBrand({ logoUrl });
    expect(policyOf(headers['content-security-policy'])['img-src']).toBe(
      'https://cdn.shop.example:8443',
    );
    expect(body).toContain(
      '<img class="logo" src="https://cdn.shop.example:8443/logo.png?a=1&#38;b=&#34;2&#34;" ' +
        'alt="" referrerpolicy="no-referrer">',
    );
  });

  it.each(['https://a;sandbox.example/l.png', 'https://a,b.example/l.png'])(
    'omits a logo whose host would change the policy: %s',
    async (logoUrl) => {
      const { body, headers } = await serverWithBrand({ logoUrl });
      expect(policyOf(headers['content-security-policy'])).not.toHaveProperty('img-src');
      expect(body).not.toContain('<img');
    },
  );

  it('includes a color in a separate style, allowed by its hash', async () => {
    const { body, headers } = await serverWithBrand({ color: '#0a7d5a' });
    const styles = inlineContents(body, 'style');
    expect(styles).toHaveLength(2);
    expect(styles[1]).toMatch(/^:root\{--brand-light:#[0-9a-f]{6};--brand-dark:#[0-9a-f]{6}\}$/);
    expect(policyOf(headers['content-security-policy'])['style-src']).toBe(
      styles.map(hashOf).join(' '),
    );
    expect(inlineContents((await serverWithBrand({ color: 'red}' })).body, 'style')).toHaveLength(
      1,
    );
  });
});

describe('a page with card details', () => {
  const card: CardFace = {
    name: 'Shop card',
    network: 'VISA',
    details: [{ label: 'Card number', value: '4111 1100 0000 0000' }],
    hideAfterS: 300,
  };

  it('has a separate origin and one script, allowed by its hash', async () => {
    const { body, headers } = await serverWith({ ...PLAIN_PAGE, card }).open();
    const [script = ''] = inlineContents(body, 'script');
    expect(script).toContain('clipboardData');
    expect(policyOf(headers['content-security-policy'])).toEqual({
      'default-src': "'none'",
      'style-src': expect.stringMatching(/^'sha256-[\w+/]{43}='$/),
      'script-src': hashOf(script),
      sandbox: 'allow-scripts',
      'form-action': "'none'",
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
    });
    expect(body).toContain('<dd><span class="code">4111 1100 0000 0000</span>');
    expect(body).toContain('data-hide-after="300"');
  });
});

describe('a page that is shown once', () => {
  it.each([
    ['sec-purpose', 'prefetch'],
    ['sec-purpose', 'prefetch;prerender'],
    ['purpose', 'Prefetch'],
    ['x-purpose', 'preview'],
    ['x-moz', 'prefetch'],
  ])('is hidden from a browser that prefetches: %s %s', async (name, value) => {
    const { open, requestedSecrets } = serverWith(PLAIN_PAGE, { singleUse: true });
    const prefetchReply = await open('GET', { [name]: value });
    expect(prefetchReply.statusCode).toBe(503);
    expect(prefetchReply.body).not.toContain('A line.');
    expect(prefetchReply.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    });
    expect(requestedSecrets).toEqual([]);
    expect((await open()).body).toContain('A line.');
    expect(requestedSecrets).toEqual(['s3cret']);
  });

  it('has the same headers for HEAD as for GET, without consuming the link', async () => {
    const preview = async () => PLAIN_PAGE;
    const { open, requestedSecrets } = serverWith(PLAIN_PAGE, { singleUse: true, preview });
    const { statusCode, headers, body } = await open('HEAD');
    expect([statusCode, body, requestedSecrets]).toEqual([200, '', []]);
    const { 'content-length': length, date, ...policy } = (await open('GET')).headers;
    expect(headers).toMatchObject(policy);
    expect((await open('HEAD', { purpose: 'prefetch' })).statusCode).toBe(503);
  });

  it('is hidden from HEAD without a preview', async () => {
    const { open, requestedSecrets } = serverWith(PLAIN_PAGE, { singleUse: true });
    const { statusCode, headers, body } = await open('HEAD');
    expect([statusCode, headers['cache-control'], body]).toEqual([503, 'no-store', '']);
    expect(requestedSecrets).toEqual([]);
  });

  it('is shown to other browsers', async () => {
    const { open, requestedSecrets } = serverWith(PLAIN_PAGE, { singleUse: true });
    await open('GET', { 'sec-purpose': '', purpose: 'navigate' });
    expect(requestedSecrets).toHaveLength(1);
    const otherServer = serverWith(PLAIN_PAGE);
    await otherServer.open('GET', { purpose: 'prefetch' });
    expect(otherServer.requestedSecrets).toHaveLength(1);
  });
});
