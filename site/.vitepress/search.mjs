// Ranking of the search. The theme imports these options of MiniSearch, because the content
// security policy of the site forbids the evaluation of functions from its data.

/** Frequent words, which do not distinguish pages. */
const STOP_WORDS = new Set(
  (
    'a an and are as at be by can do does for from how i if in is it my of on or the to what when ' +
    'where which why with'
  ).split(' '),
);

const singularOf = (term) =>
  term.length > 3 && /[^su]s$/.test(term) ? term.slice(0, -1) : undefined;

/** Terms to find for a word of the query. The singular of a plural is found too. */
export function processTerm(word) {
  const term = word.toLowerCase();
  if (STOP_WORDS.has(term)) return null;
  return [term, singularOf(term)].filter((each) => each !== undefined);
}

const isAddedSingular = (term, terms) => terms.some((other) => singularOf(other) === term);

/** Factor of the score by the path of a page. The first match applies. */
const BOOSTS = [
  [/\/(?:decisions|changelog)/, 0.3],
  [/\/sdk\/[^#]/, 0.4],
  [/\/(?:architecture|alerts|walkthroughs|imports)\b/, 0.6],
  // The operations of platforms have the same fields.
  [/\/operations\/(?:agent|\w+Webhook)/, 0.7],
  // The list of operator operations repeats words of the guides.
  [/\/operations\/operator\b/, 0.7],
  [/\/operations\/[^#]*#request-body/, 1.8],
  // Pages of operations and guides have headings about the sandbox as well.
  [/\/concepts\/sandbox#sandbox-test-values/, 3],
  [/\/(?:start|concepts\/)/, 1.6],
  [/\/webhooks(?:\.html)?#/, 0.9],
];

/** Options of a search in addition to those of the theme. */
export const searchOptions = {
  processTerm,
  // The word itself is a better match than its singular.
  boostTerm: (term, _index, terms) => (isAddedSingular(term, terms) ? 0.5 : 1),
  prefix: (term, _index, terms) => !isAddedSingular(term, terms),
  fuzzy: (term, _index, terms) => !isAddedSingular(term, terms) && 0.2,
  boostDocument: (id) => BOOSTS.find(([path]) => path.test(id))?.[1] ?? 1,
};
