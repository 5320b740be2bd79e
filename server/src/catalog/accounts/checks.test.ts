// Check digits and formats of bank identifiers, with published examples.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasPixKeyFormat,
  isAbaRouting,
  isBrazilianTaxId,
  isCbu,
  isClabe,
  isCnpj,
  isCpf,
  isIban,
  isPixKey,
} from './checks.ts';

/** All strings that differ from `text` in one digit. */
const withOneDigitChanged = (text: string): string[] =>
  [...text].flatMap((char, index) =>
    /[0-9]/.test(char)
      ? [...'0123456789']
          .filter((digit) => digit !== char)
          .map((digit) => text.slice(0, index) + digit + text.slice(index + 1))
      : [],
  );

describe('isIban', () => {
  // Examples of the SWIFT IBAN registry.
  const VALID_IBANS =
    `AE070331234567890123456 AT611904300234573201 BE68539007547034 BR1800360305000010009795493C1
    CH9300762011623852957 DE89370400440532013000 DK5000400440116243 EG380019000500000000263180002
    ES9121000418450200051332 FR1420041010050500013M02606 GB29NWBK60161331926819
    GT82TRAJ01020000001210029690 IL620108000000099999999 IT60X0542811101000000123456
    MT84MALT011000012345MTLCAST001S NL91ABNA0417164300 NO9386011117947 PK36SCBL0000001123456702
    SV62CENR00000000000000700025 TR330006100519786457841326`.split(/\s+/);

  it.each(VALID_IBANS)('accepts %s, and rejects every text that differs in one digit', (iban) => {
    expect(isIban(iban)).toBe(true);
    expect(withOneDigitChanged(iban).filter(isIban)).toEqual([]);
  });

  it('rejects a wrong length, an unknown country, spaces and a lower-case country code', () => {
    for (const invalidIban of [
      'DE8937040044053201300',
      'DE893704004405320130000',
      'US64SVBKUS6S3300958879',
      'DE89 3704 0044 0532 0130 00',
      'de89370400440532013000',
      '',
      'GB',
    ]) {
      expect([invalidIban, isIban(invalidIban)]).toEqual([invalidIban, false]);
    }
  });

  it('rejects two transposed digits', () => {
    expect(isIban('DE98370400440532013000')).toBe(false);
    expect(isIban('DE89374000440532013000')).toBe(false);
  });
});

describe('isAbaRouting', () => {
  it.each(['021000021', '011401533', '091000019', '121000248', '026009593'])(
    'accepts %s, and rejects every text that differs in one digit',
    (routingNumber) => {
      expect(isAbaRouting(routingNumber)).toBe(true);
      expect(withOneDigitChanged(routingNumber).filter(isAbaRouting)).toEqual([]);
    },
  );
  it.each(['021000022', '000000000', '02100002', '0210000210', 'abcdefghi'])(
    'rejects %s',
    (routingNumber) => {
      expect(isAbaRouting(routingNumber)).toBe(false);
    },
  );
});

describe('isClabe', () => {
  it.each(['032180000118359719', '002010077777777771', '646180157000000004'])(
    'accepts %s, and rejects every text that differs in one digit',
    (clabe) => {
      expect(isClabe(clabe)).toBe(true);
      expect(withOneDigitChanged(clabe).filter(isClabe)).toEqual([]);
    },
  );
  it.each(['032180000118359710', '03218000011835971', '0321800001183597190'])(
    'rejects %s',
    (clabe) => {
      expect(isClabe(clabe)).toBe(false);
    },
  );
});

describe('isBrazilianTaxId', () => {
  it.each(['52998224725', '11144477735', '12345678909'])('accepts the CPF %s', (taxId) => {
    expect([isCpf(taxId), isBrazilianTaxId(taxId)]).toEqual([true, true]);
  });
  it.each(['52998224726', '11111111111', '00000000000', '5299822472', '529.982.247-25'])(
    'rejects the CPF %s',
    (taxId) => expect(isCpf(taxId)).toBe(false),
  );
  it.each(['11222333000181', '11444777000161', '00000000000191', '12ABC34501DE35'])(
    'accepts the CNPJ %s',
    (taxId) => expect([isCnpj(taxId), isBrazilianTaxId(taxId)]).toEqual([true, true]),
  );
  it.each([
    '11222333000182',
    '00000000000000',
    '12ABC34501DE36',
    '12abc34501de35',
    '1122233300018',
  ])('rejects the CNPJ %s', (taxId) =>
    expect([isCnpj(taxId), isBrazilianTaxId(taxId)]).toEqual([false, false]),
  );
});

describe('isCbu', () => {
  it('accepts valid check digits in both blocks, and rejects every text that differs in one digit', () => {
    const validNumber = '2850590940090418135201';
    expect(isCbu(validNumber)).toBe(true);
    expect(withOneDigitChanged(validNumber).filter(isCbu)).toEqual([]);
    expect(isCbu('285059094009041813520')).toBe(false);
  });
});

describe('PIX keys', () => {
  it.each([
    ['CPF', '52998224725', '5299822472'],
    ['CNPJ', '11222333000181', '1122233300018'],
    ['EMAIL', 'name.002@bank.example', 'name.bank.example'],
    ['PHONE', '+5511987654321', '+1155987654'],
    ['RANDOM', '123e4567e89b12d3a456426655440000', '123e4567'],
    ['RANDOM', '123e4567-e89b-12d3-a456-426655440000', '123e4567-e89b-12d3-a456'],
  ])('of type %s have the format of the type', (type, validKey, invalidKey) => {
    expect([hasPixKeyFormat(validKey, type), isPixKey(validKey, type)]).toEqual([true, true]);
    expect([hasPixKeyFormat(invalidKey, type), isPixKey(invalidKey, type)]).toEqual([false, false]);
  });

  it('of type CPF need valid check digits, and an unknown type is rejected', () => {
    expect([hasPixKeyFormat('52998224002', 'CPF'), isPixKey('52998224002', 'CPF')]).toEqual([
      true,
      false,
    ]);
    expect([hasPixKeyFormat('x', 'OTHER'), isPixKey('x', 'OTHER')]).toEqual([false, false]);
  });
});

describe('the checks of bank identifiers', () => {
  it('return a result for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const check of [isIban, isAbaRouting, isClabe, isCpf, isCnpj, isCbu]) check(text);
      }),
    );
  });
});
