// How easily a password is guessed. Apart from the rules, which load it on first use. Its packages are
// imported here by name: in a bundle, a dynamic import of a CommonJS package has no names.
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { dictionary, adjacencyGraphs as graphs } from '@zxcvbn-ts/language-common';

const factory = new ZxcvbnFactory({ graphs, dictionary });

/** Score from 0, easily guessed, to 4; `words` are those that an attacker tries first. */
export const scoreOf = (password: string, words: string[]): number =>
  factory.check(password, words).score;
