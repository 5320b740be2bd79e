// What every page that is opened by a link has in common, whatever it shows: how closed it is, who may frame
// it, and that what is shown once is shown to somebody.
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import type { HostedPage, PageContent } from '../kernel/page.ts';
import { addPages } from './pages.ts';

const PLAIN: PageContent = { status: 200, title: 'Here', lines: ['A line.'] };

/** A server with one page, and how often it was shown. */
function serverWith(content: PageContent, more: Partial<HostedPage> = {}) {
  const server = Fastify();
  const asked: string[] = [];
  const show = async (secret: string) => {
    asked.push(secret);
    return content;
  };
  addPages(server, [{ path: '/p', show, ...more }]);
  const open = (method: 'GET' | 'HEAD' | 'POST' = 'GET', headers: Record<string, string> = {}) =>
    server.inject({ method, url: '/p/s3cret', headers });
  return { open, asked };
}

/** The directives of a policy, by name. */
function policyOf(text: unknown): Record<string, string> {
  const parts = String(text).split('; ');
  return Object.fromEntries(parts.map((each) => [each.split(' ')[0], each.replace(/^\S+ ?/, '')]));
}

describe('a page', () => {
  it('is closed on all sides', async () => {
    const { headers, body, statusCode } = await serverWith(PLAIN).open();
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
    expect(body).not.toContain('<dl>');
  });

  it('may send its button to itself', async () => {
    const { open } = serverWith({ ...PLAIN, button: 'Yes' }, { press: async () => PLAIN });
    const { headers, body } = await open();
    const policy = policyOf(headers['content-security-policy']);
    expect(policy['form-action']).toBe("'self'");
    expect(policy).not.toHaveProperty('sandbox');
    expect(body).toContain('<button type="submit">Yes</button>');
    expect((await open('POST')).body).not.toContain('<button');
  });

  it('is framed by the origins that it names, and by no other', async () => {
    const frames = ['https://shop.example', 'http://localhost:8080'];
    const { headers } = await serverWith({ ...PLAIN, frames }).open();
    expect(headers).not.toHaveProperty('x-frame-options');
    expect(policyOf(headers['content-security-policy'])).toMatchObject({
      'frame-ancestors': 'https://shop.example http://localhost:8080',
    });
    const none = await serverWith({ ...PLAIN, frames: [] }).open();
    expect(none.headers).toMatchObject({ 'x-frame-options': 'DENY' });
    expect(none.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it('shows names and values as text', async () => {
    const facts = [
      { label: 'A & B', value: '4111 1100 0000 0000' },
      { label: 'C', value: '<b>7</b>' },
    ];
    const { body, headers } = await serverWith({ ...PLAIN, facts }).open();
    expect(policyOf(headers['content-security-policy'])).toMatchObject({ sandbox: '' });
    expect(body).toContain(
      '<dl>\n<dt>A &#38; B</dt>\n<dd>4111 1100 0000 0000</dd>\n' +
        '<dt>C</dt>\n<dd>&#60;b&#62;7&#60;/b&#62;</dd>\n</dl>\n</main>',
    );
  });

  it('without a button takes nothing', async () => {
    const { open, asked } = serverWith(PLAIN);
    expect((await open('POST')).statusCode).toBe(404);
    expect(asked).toEqual([]);
    expect((await open('HEAD')).statusCode).toBe(200);
  });
});

describe('a page that is shown once', () => {
  it.each([
    ['sec-purpose', 'prefetch'],
    ['sec-purpose', 'prefetch;prerender'],
    ['purpose', 'Prefetch'],
    ['x-purpose', 'preview'],
    ['x-moz', 'prefetch'],
  ])('is not shown to who fetches ahead: %s %s', async (name, value) => {
    const { open, asked } = serverWith(PLAIN, { once: true });
    const early = await open('GET', { [name]: value });
    expect(early.statusCode).toBe(503);
    expect(early.body).not.toContain('A line.');
    expect(early.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    expect(asked).toEqual([]);
    expect((await open()).body).toContain('A line.');
    expect(asked).toEqual(['s3cret']);
  });

  it('is not shown to who asks whether it is there', async () => {
    const { open, asked } = serverWith(PLAIN, { once: true });
    const { statusCode, headers, body } = await open('HEAD');
    expect([statusCode, headers['cache-control'], body]).toEqual([503, 'no-store', '']);
    expect(asked).toEqual([]);
  });

  it('is shown to every other browser', async () => {
    const { open, asked } = serverWith(PLAIN, { once: true });
    await open('GET', { 'sec-purpose': '', purpose: 'navigate' });
    expect(asked).toHaveLength(1);
    const other = serverWith(PLAIN);
    await other.open('GET', { purpose: 'prefetch' });
    expect(other.asked).toHaveLength(1);
  });
});
