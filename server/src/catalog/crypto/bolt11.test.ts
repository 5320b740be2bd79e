// Valid and invalid invoices of the BOLT 11 specification, and invoices of the sandbox. The
// parser does not validate signatures and feature bits.
import { bech32 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bolt11 } from '../../connectors/sandbox/payments/bolt11.ts';
import { parseBolt11 } from './bolt11.ts';

const HASH = '0001020304050607080900010203040506070809000102030405060708090102';
// Tagged fields of the published invoices: payment secret and payment hash.
const S = 'sp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs';
const P = 'pp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypq';
const ISSUED_AT = 1_496_314_658;
const COFFEE_BEANS =
  `lnbc25m1pvjluez${P}dq5vdhkven9v5sxyetpdees${S}9q5sqqqqqqqqqqqqqqqqsgq2a25dxl5hrntdtn6zvydt7d66h` +
  'yzsyhqs4wdynavys42xgl6sgx9c4g7me86a27t07mdtfry458rtjr0v92cnmswpsjscgt2vcse3sgpz3uapa';

describe('parseBolt11', () => {
  it.each<[string, string, bigint | undefined, number]>([
    [
      'without an amount',
      `lnbc1pvjluez${S}${P}dpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq35` +
        '7wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspye' +
        'tp5h2tztugp9lfyql',
      undefined,
      3_600,
    ],
    [
      'with an expiry of one minute',
      `lnbc2500u1pvjluez${S}${P}dq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087n` +
        'e0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh',
      250_000_000n,
      60,
    ],
    [
      'with a hashed description',
      `lnbc20m1pvjluez${S}${P}hp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqs9qrsgq7ea976txfr` +
        'aylvgzuxs8kgcw23ezlrszfnh8r6qtfpr6cxga50aj6txm9rxrydzd06dfeawfk6swupvz4erwnyutnjq7x39ymw6j3' +
        '8gp7ynn44',
      2_000_000_000n,
      3_600,
    ],
    ['with features', COFFEE_BEANS, 2_500_000_000n, 3_600],
    ['in upper case', COFFEE_BEANS.toUpperCase(), 2_500_000_000n, 3_600],
    [
      'with metadata',
      `lnbc10m1pvjluez${P}dp9wpshjmt9de6zqmt9w3skgct5vysxjmnnd9jx2mq8q8a04uq${S}9q2gqqqqqqsgq7hf8he7e` +
        'cf7n4ffphs6awl9t6676rrclv9ckg3d3ncn7fct63p6s365duk5wrk202cfy3aj5xnnp5gs3vrdvruverwwq7yzhkf5' +
        'a3xqpd05wjc',
      1_000_000_000n,
      3_600,
    ],
  ])('parses a published invoice %s', (_, text, amountMsat, expiresInS) => {
    const expiresAt = (ISSUED_AT + expiresInS) * 1_000;
    expect(parseBolt11(text)).toEqual({
      network: 'lnbc',
      amountMsat,
      expiresAt,
      paymentHash: HASH,
    });
  });

  it('parses a published invoice of a test network', () => {
    const text =
      `lntb20m1pvjluez${S}hp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqs${P}fpp3x9et2e20v6pu3` +
      '7c5d9vax37wxq72un989qrsgqdj545axuxtnfemtpwkc45hx9d2ft7x04mt8q7y6t0k2dge9e7h8kpy9p34ytyslj3yu5' +
      '69aalz2xdk8xkd7ltxqld94u8h2esmsmacgpghe9k8';
    expect(parseBolt11(text)).toMatchObject({ network: 'lntb', amountMsat: 2_000_000_000n });
  });

  it('parses a published invoice with an amount in pico-bitcoin and an expiry of a week', () => {
    const text =
      'lnbc9678785340p1pwmna7lpp5gc3xfm08u9qy06djf8dfflhugl6p7lgza6dsjxq454gxhj9t7a0sd8dgfkx7cmtwd68y' +
      'etpd5s9xar0wfjn5gpc8qhrsdfq24f5ggrxdaezqsnvda3kkum5wfjkzmfqf3jkgem9wgsyuctwdus9xgrcyqcjcgpzgf' +
      'skx6eqf9hzqnteypzxz7fzypfhg6trddjhygrcyqezcgpzfysywmm5ypxxjemgw3hxjmn8yptk7untd9hxwg3q2d6xjcm' +
      `tv4ezq7pqxgsxzmnyyqcjqmt0wfjjq6t5v4khx${S}xqyjw5qcqp2rzjq0gxwkzc8w6323m55m4jyxcjwmy7stt9hwkwe` +
      '2qxmy8zpsgg7jcuwz87fcqqeuqqqyqqqqlgqqqqn3qq9q9qrsgqrvgkpnmps664wgkp43l22qsgdw4ve24aca4nymnxdd' +
      'lnp8vh9v2sdxlu5ywdxefsfvm0fq3sesf08uf6q9a2ke0hc9j6z6wlxg5z5kqpu2v9wz';
    expect(parseBolt11(text)).toEqual({
      network: 'lnbc',
      amountMsat: 967_878_534n,
      expiresAt: (1_572_468_703 + 604_800) * 1_000,
      paymentHash: '462264ede7e14047e9b249da94fefc47f41f7d02ee9b091815a5506bc8abf75f',
    });
  });

  it('skips fields of a wrong length in a published invoice', () => {
    const fieldOf = (letter: string, length: string, groups: number) =>
      `${letter}p${length}${'q'.repeat(groups)}`;
    const invalidFields = ['p', 'h', 's'].flatMap((letter) => [
      fieldOf(letter, 'n', 51),
      fieldOf(letter, '4', 53),
    ]);
    const text =
      `${COFFEE_BEANS.slice(0, 15)}${P}dq5vdhkven9v5sxyetpdees${S}9q5sqqqqqqqqqqqqqqqqsgq2qrqqq` +
      `fppn${'q'.repeat(32)}${invalidFields.join('')}${fieldOf('n', '5', 52)}${fieldOf('n', 'k', 54)}` +
      'z599y53s3ujmcfjp5xrdap68qxymkqphwsexhmhr8wdz5usdzkzrse33chw6dlp3jhuhge9ley7j2ayx36kawe7kmgg8sv5' +
      'ugdyusdcqzn8z9x';
    expect(parseBolt11(text)).toMatchObject({ amountMsat: 2_500_000_000n, paymentHash: HASH });
  });
});

const INVOICE_DATA =
  `pvjluez${P}dpquwpc4curk03c9wlrswe78q4eyqc7d8d0xqzpuyk0sg5g70me25alkluzd2x62aysf2pyy8edtjeevuv4p2d5` +
  'p76r4zkmneet7uvyakky2zr4cusd45tftc9c5fh0nnqpnl2jfll544esqchsrn';

describe('parseBolt11 of an invalid invoice', () => {
  it('rejects padding bits in the payment hash', () => {
    const data = [...Array(7).fill(0), 1, 1, 20, ...Array(51).fill(0), 1, ...Array(104).fill(0)];
    expect(parseBolt11(bech32.encode('lnbcrt', data, 2_000))).toBeUndefined();
    data[61] = 0;
    expect(parseBolt11(bech32.encode('lnbcrt', data, 2_000))?.paymentHash).toBe('00'.repeat(32));
  });

  it.each([
    ['a wrong checksum', `lnbc2500u1${INVOICE_DATA}t`],
    ['no separator', `${INVOICE_DATA}y`],
    ['mixed case', `LNBC2500u1${INVOICE_DATA}y`],
    ['too few characters', `lnbc1pvjluez${P}dpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6na6hlh`],
    [
      'an unknown unit',
      `lnbc2500x1pvjluez${P}dq5xysxxatsyp3k7enxv4jsxqzpu${S}9qrsgqrrzc4cvfue4zp3hggxp47ag7xnrlr8vgcmk` +
        'jxk3j5jqethnumgkpqp23z9jclu3v0a7e0aruz366e9wqdykw6dxhdzcjjhldxq0w6wgqcnu43j',
    ],
    [
      'a fraction of a millisatoshi',
      `lnbc2500000001p1pvjluez${P}dq5xysxxatsyp3k7enxv4jsxqzpu${S}9qrsgq0lzc236j96a95uv0m3umg28gclm5l` +
        'qxtqqwk32uuk4k6673k6n5kfvx3d2h8s295fad45fdhmusm8sjudfhlf6dcsxmfvkeywmjdkxcp99202x',
    ],
    ['an empty text', ''],
    ['an address', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ])('rejects %s', (_, text) => {
    expect(parseBolt11(text)).toBeUndefined();
  });

  it('rejects any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseBolt11(text)).toBeUndefined();
      }),
    );
  });
});

it('parseBolt11 parses invoices of the sandbox', () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const invoices = fc.record({
    prefix: fc.constantFrom('lnbc', 'lnbcrt'),
    amountMsat: fc.bigInt(1n, 2_100_000_000_000_000_000n),
    timestamp: fc.integer({ min: 1_500_000_000, max: 34_000_000_000 }),
    expirySeconds: fc.integer({ min: 1, max: 10_000_000 }),
    paymentHash: bytes,
    paymentSecret: bytes,
    description: fc.string({ maxLength: 60 }),
  });
  const privateKey = new Uint8Array(32).fill(7);
  fc.assert(
    fc.property(invoices, (invoice) => {
      expect(parseBolt11(bolt11({ ...invoice, privateKey }))).toEqual({
        network: invoice.prefix,
        amountMsat: invoice.amountMsat,
        expiresAt: (invoice.timestamp + invoice.expirySeconds) * 1_000,
        paymentHash: Buffer.from(invoice.paymentHash).toString('hex'),
      });
    }),
    { numRuns: 50 },
  );
});
