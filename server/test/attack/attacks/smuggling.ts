// Requests with contradictory or invalid framing. A proxy and the server could find different ends of such a
// request. The bytes after the request must never be executed as a separate request.

import { type Attack, addProblem, type Session } from '../session.ts';
import { BASE } from '../target/tenants.ts';
import { readReplies, sendBytes } from '../target/wire.ts';

interface Case {
  name: string;
  bytes: string | Buffer;
  /** Maximum number of replies. */
  replies: number;
  /** Whether every reply must have a status of 400 or more. */
  mustReject: boolean;
}

/** Marks the customer that a smuggled request would create. */
export const SMUGGLED_CUSTOMER_ID = 'smuggled-customer';

const WAIT_MS = 150;

interface Parts {
  authorization: string;
  /** A complete request that must not be executed. */
  hiddenRequest: string;
  host: string;
}

const partsOf = ({ callers, chance }: Session): Parts => {
  const { authorization } = callers.attacker;
  const body = JSON.stringify({
    ...{ customerType: 'INDIVIDUAL', fullName: SMUGGLED_CUSTOMER_ID },
    platformCustomerId: `${SMUGGLED_CUSTOMER_ID}-${chance.integerBelow(2 ** 31)}`,
  });
  const head =
    `POST ${BASE}/customers HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return { authorization, hiddenRequest: head + body, host: 'host: localhost\r\n' };
};

/** A request whose body is framed by `framingFields`, with bytes after it. */
const post = ({ authorization, host }: Parts, framingFields: string, bytesAfter: string) =>
  `POST ${BASE}/customers HTTP/1.1\r\n${host}authorization: ${authorization}\r\n` +
  `content-type: application/json\r\n${framingFields}\r\n${bytesAfter}`;

const get = ({ authorization, host }: Parts, fields: string, bytesAfter = '') =>
  `GET ${BASE}/config HTTP/1.1\r\n${host}authorization: ${authorization}\r\n${fields}\r\n${bytesAfter}`;

function lengthCases(parts: Parts): Case[] {
  const { hiddenRequest } = parts;
  const lengths = ['+5', '0x5', '5,5', '-1', '5 5', '1e1', '99999999999999999999', '', '5;', '٥'];
  const bothLengths = 'content-length: 6\r\ntransfer-encoding: chunked\r\n';
  const rejection = { replies: 1, mustReject: true };
  return [
    {
      name: 'both lengths',
      bytes: post(parts, bothLengths, `0\r\n\r\n${hiddenRequest}`),
      ...rejection,
    },
    {
      ...{ name: 'both lengths reversed', ...rejection },
      bytes: post(
        parts,
        'transfer-encoding: chunked\r\ncontent-length: 4\r\n',
        `5c\r\n${hiddenRequest}`,
      ),
    },
    {
      ...{ name: 'two different lengths', ...rejection },
      bytes: post(parts, 'content-length: 0\r\ncontent-length: 40\r\n', hiddenRequest),
    },
    {
      ...{ name: 'the same length twice', ...rejection },
      bytes: post(parts, 'content-length: 2\r\ncontent-length: 2\r\n', `{}${hiddenRequest}`),
    },
    ...lengths.map((length) => ({
      ...{ name: `length ${length}`, ...rejection },
      bytes: post(parts, `content-length: ${length}\r\n`, `{}${hiddenRequest}`),
    })),
    {
      ...{ name: 'a body of GET', replies: 1, mustReject: false },
      bytes: get(parts, `content-length: ${hiddenRequest.length}\r\n`, hiddenRequest),
    },
  ];
}

function encodingCases(parts: Parts): Case[] {
  const { hiddenRequest } = parts;
  const encodings = [
    ...['transfer-encoding: xchunked', 'transfer-encoding: chunked, identity'],
    ...['transfer-encoding : chunked', 'transfer-encoding: chunked\r\ntransfer-encoding: identity'],
    ...['transfer-encoding:\vchunked', 'transfer-encoding: "chunked"', 'transfer-encoding: gzip'],
    ...[
      'transfer-encoding: chunked\0',
      ' transfer-encoding: chunked',
      'transfer\tencoding: chunked',
    ],
  ];
  const sizes = [
    ...['FFFFFFFFFFFFFFFFF', '-1', '0x5', '5 ', '5\n', '', 'g', `${'0'.repeat(9_000)}5`],
    ...[`5;${'x'.repeat(20_000)}`, '5;a\nb', '5\rx'],
  ];
  return [
    ...encodings.map((encoding) => ({
      ...{ name: encoding, replies: 1, mustReject: true },
      bytes: post(parts, `${encoding}\r\ncontent-length: 5\r\n`, `0\r\n\r\n${hiddenRequest}`),
    })),
    ...sizes.map((size) => ({
      ...{ name: `chunk of ${size.slice(0, 20)}`, replies: 1, mustReject: true },
      bytes: post(
        parts,
        'transfer-encoding: chunked\r\n',
        `${size}\r\n{"a":1}\r\n0\r\n\r\n${hiddenRequest}`,
      ),
    })),
    {
      // The remaining body is rejected as well.
      ...{ name: 'chunked in HTTP/1.0', replies: 2, mustReject: true },
      bytes: post(parts, 'transfer-encoding: chunked\r\n', `0\r\n\r\n${hiddenRequest}`).replace(
        '1.1',
        '1.0',
      ),
    },
  ];
}

function lineCases(parts: Parts): Case[] {
  const { authorization, hiddenRequest } = parts;
  const rejection = { replies: 1, mustReject: true };
  return [
    {
      name: 'bare LF',
      bytes: get(parts, '').replaceAll('\r\n', '\n') + hiddenRequest,
      ...rejection,
    },
    { name: 'bare CR', bytes: get(parts, 'a: b\rc: d\r\n'), ...rejection },
    { name: 'folded field', bytes: get(parts, 'a: b\r\n c: d\r\n'), replies: 1, mustReject: false },
    { name: 'field without colon', bytes: get(parts, 'abc\r\n', hiddenRequest), ...rejection },
    { name: 'NUL in a field', bytes: get(parts, 'a: b\0c\r\n', hiddenRequest), ...rejection },
    { name: 'space before the colon', bytes: get(parts, 'a : b\r\n', hiddenRequest), ...rejection },
    {
      name: 'long field',
      bytes: get(parts, `a: ${'x'.repeat(17_000)}\r\n`, hiddenRequest),
      ...rejection,
    },
    {
      name: 'many fields',
      bytes: get(parts, 'a: b\r\n'.repeat(10_000), hiddenRequest),
      ...rejection,
    },
    { name: 'two hosts', bytes: get(parts, 'host: evil.example\r\n'), ...rejection },
    {
      ...{ name: 'no host', ...rejection },
      bytes: `GET ${BASE}/config HTTP/1.1\r\nauthorization: ${authorization}\r\n\r\n`,
    },
    {
      name: 'space in the address',
      bytes: get(parts, '').replace('config', 'con fig'),
      ...rejection,
    },
    { name: 'HTTP/0.9', bytes: `GET ${BASE}/config\r\n`, ...rejection },
    { name: 'HTTP/9.9', bytes: get(parts, '').replace('HTTP/1.1', 'HTTP/9.9'), ...rejection },
    { name: 'invalid method', bytes: get(parts, '').replace('GET', 'G(T'), ...rejection },
    {
      name: 'long address',
      bytes: get(parts, '').replace('config', 'x'.repeat(20_000)),
      ...rejection,
    },
    { name: 'CONNECT', bytes: 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: x\r\n\r\n', ...rejection },
    { name: 'OPTIONS *', bytes: 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n', ...rejection },
    {
      ...{ name: 'absolute address of another host', replies: 1, mustReject: false },
      bytes: get(parts, '').replace(BASE, `http://evil.example${BASE}`),
    },
  ];
}

function protocolCases(parts: Parts, random: Buffer): Case[] {
  const { hiddenRequest } = parts;
  const rejection = { replies: 1, mustReject: true };
  const h2cFields =
    'connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n';
  const webSocketFields =
    'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: YQ==\r\n';
  return [
    { name: 'HTTP/2 preface', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ...rejection },
    {
      name: 'TLS',
      bytes: Buffer.concat([Buffer.from('160301020001', 'hex'), random]),
      ...rejection,
    },
    { name: 'random bytes', bytes: random, ...rejection },
    { name: 'h2c', bytes: get(parts, h2cFields), replies: 1, mustReject: false },
    { name: 'WebSocket', bytes: get(parts, webSocketFields), replies: 1, mustReject: false },
    { name: 'unknown expectation', bytes: get(parts, 'expect: 200-maybe\r\n'), ...rejection },
    {
      ...{ name: 'expectation without credential', replies: 1, mustReject: true },
      bytes: post(
        { ...parts, authorization: 'Basic eDp5' },
        `expect: 100-continue\r\ncontent-length: ${hiddenRequest.length}\r\n`,
        hiddenRequest,
      ),
    },
    {
      name: '40 pipelined requests',
      bytes: get(parts, '').repeat(40),
      replies: 40,
      mustReject: false,
    },
    { name: 'empty lines', bytes: `\r\n\r\n${get(parts, '')}`, replies: 1, mustReject: false },
  ];
}

async function smuggle(session: Session): Promise<void> {
  const { chance, port, callers, report } = session;
  const parts = partsOf(session);
  const random = Buffer.from(chance.bytes(chance.integerBetween(1, 400)));
  const cases = [
    ...[...lengthCases(parts), ...encodingCases(parts)],
    ...[...lineCases(parts), ...protocolCases(parts, random)],
  ];
  const chosenCase = chance.pick(cases);
  const bytes = Buffer.from(chosenCase.bytes);
  const { bytes: receivedBytes } = await sendBytes(port, bytes, WAIT_MS);
  const replies = readReplies(receivedBytes);
  const text = bytes.toString('latin1');
  const sentRequest = { attack: 'smuggling', method: chosenCase.name, path: '', text };
  const [firstReply] = replies;
  if (firstReply) session.record(sentRequest, { ...firstReply, ms: 0 });
  else report.requestCounts.set('smuggling', (report.requestCounts.get('smuggling') ?? 0) + 1);
  const statuses = replies.map(({ status }) => status).join(', ');
  if (replies.length > chosenCase.replies)
    addProblem(report, sentRequest, `${replies.length} replies: ${statuses}`);
  if (replies.some(({ status }) => status === 101 || status >= 500))
    addProblem(report, sentRequest, statuses);
  if (chosenCase.mustReject && replies.some(({ status }) => status < 400)) {
    addProblem(report, sentRequest, `accepted with ${statuses}`, receivedBytes.toString());
  }
  if (firstReply?.status === 401 && parts.authorization === callers.attacker.authorization) {
    await callers.renew();
  }
}

export const smuggling: Attack = { name: 'smuggling', weight: 4, run: smuggle };
