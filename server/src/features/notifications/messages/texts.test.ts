// Texts of messages with codes. The stated validity is at most the validity of the code.
import { describe, expect, it } from 'vitest';
import { codeText, scaCodeText } from './texts.ts';

describe('codeText', () => {
  it.each([
    [1_000, '1 second'],
    [59_000, '59 seconds'],
    [60_000, '1 minute'],
    [90_000, '90 seconds'],
    [150_000, '2 minutes'],
    [600_000, '10 minutes'],
    [3_600_000, '1 hour'],
    [5_400_000, '90 minutes'],
    [86_400_000, '24 hours'],
  ])('shows %i ms as %s', (ms, span) => {
    expect(codeText('Main', '123456', ms)).toEqual({
      subject: 'Your code for Main',
      text: `123456 is your code for Main. It expires in ${span}. Do not share it with anyone.`,
    });
  });
});

describe('scaCodeText', () => {
  it('names the action, and equals codeText without a description', () => {
    expect(scaCodeText('Main', '123456', 300_000, '5.00 EUR to DE89…3000').text).toBe(
      '123456 is your code for Main to confirm: 5.00 EUR to DE89…3000. ' +
        'It expires in 5 minutes. Do not share it with anyone.',
    );
    expect(scaCodeText('Main', '123456', 300_000)).toEqual(codeText('Main', '123456', 300_000));
  });

  it('removes control characters and line breaks from the description', () => {
    const { text, subject } = scaCodeText(
      'Main',
      '123456',
      300_000,
      '5 EUR to Eve\r\n\u202e  654321',
    );
    expect(text).toContain('confirm: 5 EUR to Eve 654321. It expires');
    expect(subject).toBe('Your code for Main');
  });
});
