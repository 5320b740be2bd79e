// Differences between stored events, and their restored data.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeEventData, eventChanges } from './event-data.ts';
import { packJson } from './stored-json.ts';

const padding = 'x'.repeat(300);
const base = { id: 'Transaction:1', status: 'PENDING', fees: 0, note: padding };
const changesOf = (data: Record<string, unknown>) => eventChanges(base, data, JSON.stringify(data));

describe('eventChanges', () => {
  it('contains new and different fields only', () => {
    const data = { ...base, status: 'COMPLETED', settledAt: '2026-01-05T09:00:00.000Z' };
    const changes = changesOf(data);
    expect(JSON.parse(changes as string)).toEqual({
      status: 'COMPLETED',
      settledAt: '2026-01-05T09:00:00.000Z',
    });
    expect(JSON.parse(completeEventData(changes as string, JSON.stringify(base)))).toEqual(data);
  });

  it('is absent if a field of the base is missing', () => {
    const { fees: _, ...data } = { ...base, status: 'COMPLETED' };
    expect(changesOf(data)).toBeUndefined();
    expect(changesOf({ ...base, fees: undefined })).toBeUndefined();
  });

  it('is absent if few bytes would be saved', () => {
    expect(changesOf({ ...base, note: 'y'.repeat(300) })).toBeUndefined();
  });

  it('restores any data with every field of its base', () => {
    const fields = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(fields, fields, (baseFields, addedFields) => {
        const baseData = { ...baseFields, note: padding };
        const data = { ...baseData, ...addedFields };
        const changes = eventChanges(baseData, data, JSON.stringify(data));
        if (changes === undefined) return;
        const restoredData = completeEventData(changes, JSON.stringify(baseData));
        expect(JSON.parse(restoredData)).toEqual(JSON.parse(JSON.stringify(data)));
      }),
    );
  });
});

describe('completeEventData', () => {
  it('returns an empty text if the event or its base is erased', () => {
    expect(completeEventData('', '{"a":1}')).toBe('');
    expect(completeEventData('{"a":1}', '')).toBe('');
  });

  it('returns the stored text of an event without a reference', () => {
    expect(completeEventData('{"b":1,"a":2}', null)).toBe('{"b":1,"a":2}');
  });

  it('returns the data of the base if no field differs', () => {
    expect(completeEventData('{}', '{ "b": 1.0 }')).toBe('{ "b": 1.0 }');
  });

  it('unpacks the stored text', () => {
    const [baseFields, otherFields] = ['{"a":1,"status":"NEW"}', '{"status":"OLD","fees":1}'];
    expect(completeEventData(packJson(baseFields), null)).toBe(baseFields);
    expect(completeEventData('{}', packJson(baseFields))).toBe(baseFields);
    expect(completeEventData(packJson(otherFields), packJson(baseFields))).toBe(
      '{"a":1,"status":"OLD","fees":1}',
    );
  });
});
