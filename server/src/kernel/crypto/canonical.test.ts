// The examples of RFC 8785.
import { describe, expect, it } from 'vitest';
import { canonical } from './canonical.ts';

describe('canonical', () => {
  it('writes the example of RFC 8785, 3.2.2', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonical(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts by UTF-16 code units, as in RFC 8785, 3.2.3, including numeric names', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const order = [...canonical(value).matchAll(/":"(\w+)/g)].map((each) => each[1]);
    expect(order).toEqual(['Carriage', 'One', 'Control', 'Latin', 'Euro', 'Emoji', 'Hebrew']);
    expect(canonical({ b: 1, '10': 2, '9': 3 })).toBe('{"10":2,"9":3,"b":1}');
  });

  it('omits undefined members and keeps the order of lists', () => {
    expect(canonical({ b: undefined, a: [2, 1, { d: 1, c: 2 }] })).toBe(
      '{"a":[2,1,{"c":2,"d":1}]}',
    );
  });
});
