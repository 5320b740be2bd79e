// Public interface of the changes that operators follow.
export { type ChangeFeed, createChangeFeed } from './feed.ts';
