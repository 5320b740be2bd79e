// What a message with a code says about how long it works: never longer than it does.
import { describe, expect, it } from 'vitest';
import { codeText } from './texts.ts';

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
  ])('says of %i ms that it is %s', (ms, span) => {
    expect(codeText('Main', '123456', ms)).toEqual({
      subject: 'Your code for Main',
      text: `123456 is your code for Main. It works for ${span}. Do not pass it on.`,
    });
  });
});
