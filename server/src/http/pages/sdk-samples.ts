// Samples of the TypeScript SDK in the document of the reference. The published document has no samples,
// because they follow from its examples.
import { sdkSample } from '../../../../packages/sdk/scripts/sample.mjs';

type Item = Record<string, object>;

interface Document {
  paths: Record<string, Item>;
}

const mapValues = <T, R>(values: Record<string, T>, make: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]));

const withSample = (operation: object) => {
  const source = sdkSample(operation);
  return { ...operation, 'x-codeSamples': [{ lang: 'TypeScript', label: 'SDK', source }] };
};

const documents = new WeakMap<object, object>();

/** The document with a sample for each operation, created once for each document. */
export function withSdkSamples(document: object): object {
  let result = documents.get(document);
  if (!result) {
    const { paths } = document as Document;
    result = { ...document, paths: mapValues(paths, (item) => mapValues(item, withSample)) };
    documents.set(document, result);
  }
  return result;
}
